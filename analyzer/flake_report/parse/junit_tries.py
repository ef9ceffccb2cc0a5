"""What one `<testcase>` says of attempts: the final one, and those that its children tell of."""

from __future__ import annotations

import re
from typing import NamedTuple

from flake_report.model.results import Outcome, Phase

from .junit_case import EARLIER, ERROR, FINAL, SKIPPED, Case, Part
from .junit_dialect import Dialect

# pytest wraps what failed outside the test's own body; older versions only named the phase.
_PHASE = re.compile(r'failed on (setup|teardown) with "(.*)"\s*', re.DOTALL)
_OLD_PHASES = {"test setup failure": Phase.SETUP, "test teardown failure": Phase.TEARDOWN}
_COLLECTION = ("collection failure", "collection skipped")
_CRASH = re.compile(r"worker '[^']*' crashed while running '")
# Playwright writes all attempts of a failed test into one failure, each later one under such a line.
_PLAYWRIGHT_RETRY = re.compile(r"^ *Retry #(\d+) ─{3,}.*$", re.MULTILINE)


class Try(NamedTuple):
    """One attempt, not yet numbered. `known` is False where there may have been others, or fewer."""

    outcome: Outcome
    phase: Phase | None = None
    time: str = ""
    stamp: str = ""
    message: str = ""
    text: str = ""
    known: bool = True


def tries(case: Case, dialect: Dialect) -> list[Try]:
    """The attempts of one case in order, the final one last unless it failed first.

    Surefire and those who follow it write `flakyFailure` before a final pass; a test that never passed has its
    first failure as `failure` and the later ones as `rerunFailure`.
    """
    found: list[Try] = []
    final: list[Part] = []
    place = 0
    for part in case.parts:
        if part.kind in EARLIER:
            found.append(_earlier(part))
        else:
            if not final:
                place = len(found)
            final.append(part)
    if not final or case.category == SKIPPED:
        place = len(found)
    last = _final(case, final, dialect)
    found[place:place] = _playwright(last) if dialect is Dialect.PLAYWRIGHT else [last]
    return found


def _earlier(part: Part) -> Try:
    outcome = Outcome.FAILED if part.kind.endswith("Failure") else Outcome.ERROR
    return Try(outcome, None, part.time, part.stamp, _message(part), part.text.strip())


def _final(case: Case, parts: list[Part], dialect: Dialect) -> Try:
    bad = [part for part in parts if part.kind in FINAL]
    if not bad:
        skip = parts[0] if parts else None
        outcome = Outcome.SKIPPED if case.category == SKIPPED else Outcome.PASSED
        if skip and skip.type == "pytest.xfail":
            outcome = Outcome.XFAILED
        phase = Phase.COLLECT if skip and skip.message == _COLLECTION[1] else None
        return Try(outcome, phase, case.time, case.stamp, _message(skip) if skip else "")
    main = next((part for part in bad if part.kind == "failure"), bad[0])
    outcome = Outcome.ERROR if case.category == ERROR else Outcome.FAILED
    phase, message = None, _message(main)
    if dialect is Dialect.PYTEST:
        phase, message = pytest_phase(main.kind, message)
    if _CRASH.match(message):
        outcome, phase = Outcome.CRASHED, None
    texts = [part.text.strip() for part in (main, *(part for part in bad if part is not main))]
    text = "\n".join(piece for piece in (*texts, case.output.strip()) if piece)
    # Two failures may be two checks of one attempt, or two attempts: some tools write the one, some the other.
    same_kind = len({part.kind for part in bad}) < len(bad)
    known = not same_kind or case.checks or dialect in (Dialect.PYTEST, Dialect.GO)
    return Try(outcome, phase, case.time, case.stamp, message, text, known)


def pytest_phase(kind: str, message: str) -> tuple[Phase, str]:
    """The phase in which a pytest test failed, and what it said there."""
    if kind == "failure":
        return Phase.CALL, message
    if found := _PHASE.fullmatch(message):
        return Phase(found[1]), found[2]
    if message in _COLLECTION:
        return Phase.COLLECT, message
    return _OLD_PHASES.get(message, Phase.CALL), message


def _message(part: Part) -> str:
    if part.message:
        return part.message
    first = next((line.strip() for line in part.text.splitlines() if line.strip()), "")
    return first[:1000] or part.type


def _playwright(last: Try) -> list[Try]:
    headings = list(_PLAYWRIGHT_RETRY.finditer(last.text)) if last.outcome.bad else []
    if [int(heading[1]) for heading in headings] != list(range(1, len(headings) + 1)):
        return [last._replace(known=False)]
    if not headings:
        return [last]
    starts = [0, *(heading.end() for heading in headings)]
    ends = [*(heading.start() for heading in headings), len(last.text)]
    texts = [last.text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return [last._replace(text=text) for text in texts]
