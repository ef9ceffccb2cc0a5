"""The grammar of single pytest lines, as its terminal reporter (pytest 6 to 9) and xdist's write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, IntEnum

from flake_report.model.results import Outcome

RERUN = "RERUN"
WORDS = {
    "PASSED": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "SKIPPED": Outcome.SKIPPED,
    "XFAIL": Outcome.XFAILED,
    "XPASS": Outcome.XPASSED,
    RERUN: Outcome.FAILED,
}
"""The outcome words of `-v`; RERUN is pytest-rerunfailures' word for a failed attempt that has a successor."""

_WORD = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN"
_TAIL = r"(?: \((?P<reason>.*)\))?(?P<boxes>(?:\s*\[[^\[\]]*\])*)(?:\s+[\d.]+(?:us|ms|s|m|h))?\s*$"
_ID = r"[^\s:]+\.\w+::"

_XDIST = re.compile(rf"\[(?P<worker>gw\d+)\](?:\s*\[[^\]]*\])?\s+(?P<word>{_WORD})\s+(?P<id>{_ID}.*?)(?: <- \S+)?\s*$")
_OUTCOME = re.compile(rf"(?: <- \S+)? (?P<word>{_WORD}){_TAIL}")
_UNBALANCED = re.compile(rf"(?P<id>{_ID}.+?\]) (?P<word>{_WORD}){_TAIL}")
_ENDING = re.compile(rf"(?<!SUB)(?P<word>{_WORD}){_TAIL}")
_GLUED = re.compile(rf"(?P<word>{_WORD})(?=[^\s:,.;!?=\])])")
_SIMPLE_ID = re.compile(r"[^\s\[\]]+(?:\[[^\s\[\]]*\])?(?=\s|$)")
_START = re.compile(_ID)
_SECONDS = re.compile(r"\[\s*(\d+(?:\.\d+)?)s\]")


class Section(Enum):
    """The parts of a session's output, in the order in which pytest writes them."""

    RUN = "run"
    FAILURES = "failures"
    OTHER = "other"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class ResultLine:
    """An outcome word with its test; `seconds` where a plugin prints them.

    `sure` is False where the line could also be the test's start with the first words of its own output.
    """

    nodeid: str
    word: str
    worker: str = ""
    reason: str = ""
    seconds: float | None = None
    sure: bool = True


class Hold(IntEnum):
    """How much speaks for a word being pytest's own and not the test's output, weakest first."""

    LAST = 0
    """Behind other text, at the line's end: what the test wrote had no line end of its own."""
    GLUED = 1
    """At the line's start, with text right behind it: the tear-down's output, since pytest ends no line there."""
    ALONE = 2


@dataclass(frozen=True, slots=True)
class Ending:
    """An outcome word that may end a test which shows its output."""

    word: str
    hold: Hold
    reason: str = ""


def result_line(text: str) -> ResultLine | None:
    """`a/b.py::test PASSED [ 50%]`, or xdist's `[gw0] [ 50%] PASSED a/b.py::test`."""
    if text.startswith("[gw"):
        found = _XDIST.match(text)
        return ResultLine(found["id"], found["word"], found["worker"]) if found else None
    if _START.match(text) is None:
        return None
    nodeid = node_id(text)
    found = _OUTCOME.match(text, len(nodeid))
    if found is None and nodeid.count("[") > nodeid.count("]"):
        found = _UNBALANCED.match(text)
        nodeid = found["id"] if found else nodeid
    if found is None:
        return None
    boxes = found["boxes"]
    seconds = _SECONDS.search(boxes)
    return ResultLine(
        nodeid,
        found["word"],
        reason=found["reason"] or "",
        seconds=float(seconds[1]) if seconds else None,
        sure=bool(boxes),  # progress is shown only where the test's output is not
    )


def ending(text: str, start: int = 0) -> Ending | None:
    """The outcome word of a test that shows its output (`-s`): it stands behind that, on a line of its own or not."""
    found = _ENDING.search(text, start)
    if found is None:
        glued = _GLUED.match(text, start)
        return Ending(glued["word"], Hold.GLUED) if glued else None
    hold = Hold.ALONE if found.start() == start else Hold.LAST
    return Ending(found["word"], hold, found["reason"] or "")


def started(text: str) -> str | None:
    """The node id that a line begins with: the test starts, and its output may follow on the line."""
    return node_id(text) if _START.match(text) else None


def node_id(text: str) -> str:
    """The node id at the start of a text: up to the first white space that is not inside its parameters."""
    simple = _SIMPLE_ID.match(text)
    if simple:
        return simple[0]
    depth = 0
    for place, letter in enumerate(text):
        if letter == "[":
            depth += 1
        elif letter == "]":
            depth -= 1
        elif letter.isspace() and depth <= 0:
            return text[:place]
    return text if depth <= 0 else text.split(maxsplit=1)[0]


def title_of(nodeid: str) -> str:
    """What pytest writes above a failure of this test: `a/b.py::TestX::test_y[1]` is `TestX.test_y[1]` there."""
    path, bracket, parameters = nodeid.partition("[")
    return ".".join(path.split("::")[1:]) + bracket + parameters
