"""pytest's failure sections: whose they are, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .pytestlines import title_of

_TITLE = re.compile(r"_+ (?P<title>\S(?:.*\S)?) _+$")
_AT = re.compile(r"ERROR (?:at (?P<phase>setup|teardown) of |collecting )(?P<title>.+)$")
_CAPTURED = re.compile(r"-+ Captured (?:stdout|stderr|log) \w+ -+$")
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failed|Skipped)?(?:: |$)"
)
_CRASH = re.compile(
    r"worker '(?:gw)?\S+' crashed while running '(?P<nodeid>.+)'$"
    r"|\S*:-?\d+: running the test CRASHED with signal -?\d+$"  # pytest-forked
)
_AFTER = re.compile(r"-+ generated (?:\w+ )*\w+(?: file)?: .+ -+$|- generated .+ -$")
MESSAGE_LIMIT = 4000
"""Characters of a message that are kept: an assertion may print whole data structures."""


@dataclass(slots=True)
class FailureText:
    """One section below FAILURES or ERRORS. `phase` is setup, teardown, collect, or empty for the call."""

    title: str
    phase: str
    first_line: int
    last_line: int = 0
    lines: list[str] = field(default_factory=list)
    nodeid: str = ""
    heading: str = ""

    def told(self, lines: list[str]) -> None:
        """Takes in the section's lines, less what plugins write behind the last one."""
        end = next((place for place, line in enumerate(lines) if _AFTER.match(line)), len(lines))
        self.lines = lines[:end]

    @property
    def crashed(self) -> bool:
        return any(_CRASH.match(line) for line in self.lines[:8])

    @property
    def message(self) -> str:
        return message_of(self.lines)[:MESSAGE_LIMIT]


def failure_title(text: str) -> tuple[str, str] | None:
    """Title and phase of a section's first line; None where the line is none."""
    found = _TITLE.match(text)
    if found is None or not found["title"].strip("_ "):
        return None
    at = _AT.match(found["title"])
    return (at["title"], at["phase"] or "collect") if at else (found["title"], "")


def message_of(lines: list[str]) -> str:
    """The exception as pytest tells it: the last block of `E` lines, else the traceback's own last line."""
    traceback: list[str] = []
    for line in lines:
        if _CAPTURED.match(line):
            break
        traceback.append(line)
    last = next((place for place in range(len(traceback) - 1, -1, -1) if _is_error(traceback[place])), None)
    if last is None:
        bare = [place for place, line in enumerate(traceback) if _EXCEPTION.match(line) or _CRASH.match(line)]
        return "\n".join(traceback[bare[-1] :]).strip() if bare else ""
    first = last
    while first and _is_error(traceback[first - 1]):
        first -= 1
    block = [line[1:] for line in traceback[first : last + 1]]
    indent = len(block[0]) - len(block[0].lstrip())
    return "\n".join(line[indent:] if line[:indent].isspace() else line.lstrip() for line in block).strip()


def _is_error(line: str) -> bool:
    return line.startswith("E   ") or line == "E"


def assign(sections: list[FailureText], failed: Iterable[str], errors: Iterable[str]) -> list[FailureText]:
    """The sections with their node ids, each title's in the order of the ids given.

    A title that no test has is not one: a test printed such a line, and the section before it goes on.
    """
    waiting = {"failed": _by_title(failed), "error": _by_title(errors)}
    known = any(waiting.values())
    assigned: list[FailureText] = []
    for section in sections:
        crash = next((found["nodeid"] or "" for line in section.lines[:8] if (found := _CRASH.match(line))), "")
        ids = waiting["error" if section.phase else "failed"].get(section.title, [])
        if ids:
            section.nodeid = ids.pop(0) if len(ids) > 1 else ids[0]
        elif crash or section.phase == "collect":
            section.nodeid = crash or section.title
        elif known and assigned:
            assigned[-1].lines += [section.heading, *section.lines]
            assigned[-1].last_line = section.last_line
            continue
        assigned.append(section)
    return assigned


def _by_title(nodeids: Iterable[str]) -> dict[str, list[str]]:
    titles: dict[str, list[str]] = {}
    for nodeid in dict.fromkeys(nodeids):
        titles.setdefault(title_of(nodeid) or nodeid, []).append(nodeid)
    return titles
