"""pytest's short test summary: the node ids of what failed, with the first words of why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .pytestcounts import header
from .pytestlines import node_id

_ENTRY = re.compile(r"(?P<word>FAILED|ERROR|PASSED|XFAIL|XPASS|SKIPPED|RERUN)(?: \[[\d.]+s\])? (?P<rest>\S.*)$")
_OTHER = re.compile(r"(?:SUB(?:FAILED|PASSED|SKIPPED)\b|SKIPPED \[\d+\] |!{3,} )")


@dataclass(frozen=True, slots=True)
class SummaryEntry:
    """One entry and its lines in the log; `message` is what stands behind the node id, cut where pytest cut it."""

    word: str
    nodeid: str
    message: str
    first_line: int
    last_line: int


def summary_entries(lines: list[str], first_line: int) -> list[SummaryEntry]:
    """The entries of a short summary; a message may go on over several lines. `first_line` numbers the first line."""
    entries: list[SummaryEntry] = []
    open_entry: tuple[str, str, list[str], int] | None = None

    def close(before: int) -> None:
        if open_entry is not None:
            word, nodeid, message, start = open_entry
            entries.append(SummaryEntry(word, nodeid, "\n".join(message).rstrip(), start, max(start, before - 1)))

    number = first_line
    for number, text in enumerate(lines, first_line):
        entry = _ENTRY.match(text)
        if _OTHER.match(text) or header(text):
            close(number)
            open_entry = None
        elif entry and _names_a_test(entry["rest"]):
            close(number)
            nodeid = node_id(entry["rest"])
            message = entry["rest"][len(nodeid) :].removeprefix(" - ").strip()
            open_entry = (entry["word"], nodeid, [message] if message else [], number)
        elif open_entry is not None:
            open_entry[2].append(text)
    close(number + 1)
    return entries


def _names_a_test(rest: str) -> bool:
    first = node_id(rest)
    return "::" in first or first.endswith(".py")
