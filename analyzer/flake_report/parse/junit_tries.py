"""What one `<testcase>` says of attempts: the final one, and those that its children tell of."""

from __future__ import annotations

import re

from flake_report.model.results import Outcome, Phase

from .junit_case import EARLIER, ERROR, FINAL, ONE_ATTEMPT, SKIPPED, XFAIL, Case, Part
from .junit_dialect import Dialect
from .junit_playwright import playwright_tries
from .junit_try import Try

# pytest wraps what failed outside the test's own body; older versions only named the phase.
_PHASE = re.compile(r'failed on (setup|teardown) with "(.*)"\s*', re.DOTALL)
_OLD_PHASES = {"test setup failure": Phase.SETUP, "test teardown failure": Phase.TEARDOWN}
_COLLECTION = ("collection failure", "collection skipped")
# gotestsum says `Failed` of all; what failed is in the test's own output.
_GO_FRAME = re.compile(r"\s*(?:=== |--- (?:FAIL|PASS|SKIP): |\Z)")
_CRASH = re.compile(r"worker '[^']*' crashed while running '")


def tries(case: Case, dialect: Dialect) -> list[Try]:
    """The attempts of one case in order.

    Surefire and those who follow it write `flakyFailure` for attempts before a pass. A test that never passed has
    its first failure as `failure`, and the later ones as `rerunFailure`, wherever they stand.
    """
    if dialect not in (Dialect.PLAYWRIGHT, Dialect.OWN) and (
        case.parts[0].kind not in EARLIER if len(case.parts) == 1 else not (case.parts or case.facts)
    ):
        return [_final(case, [*case.parts], dialect)]
    last = _final(case, [part for part in case.parts if part.kind not in EARLIER], dialect)
    flaky = [_earlier(part) for part in case.parts if part.kind.startswith("flaky")]
    rerun = [_earlier(part) for part in case.parts if part.kind.startswith("rerun")]
    if not last.outcome.bad:
        flaky, rerun = flaky + rerun, []
    final = [last] if flaky or rerun or dialect is not Dialect.PLAYWRIGHT else playwright_tries(last, case.output)
    found = [*flaky, *final, *rerun]
    return [one._replace(known=False) for one in found] if "attempts=unknown" in case.facts else found


def _earlier(part: Part) -> Try:
    outcome = Outcome.FAILED if part.kind.endswith("Failure") else Outcome.ERROR
    if part.type == Outcome.CRASHED:
        outcome = Outcome.CRASHED
    return Try(outcome, None, part.time, part.stamp, _message(part), part.text.strip())


def _final(case: Case, parts: list[Part], dialect: Dialect) -> Try:
    bad = [part for part in parts if part.kind in FINAL]
    if not bad:
        skip = parts[0] if parts else None
        outcome = Outcome.SKIPPED if case.category == SKIPPED else Outcome.PASSED
        if skip and skip.type == XFAIL:
            outcome = Outcome.XFAILED
        if "outcome=xpassed" in case.facts:
            outcome = Outcome.XPASSED
        phase = Phase.COLLECT if skip and skip.message == _COLLECTION[1] else _own_phase(case)
        return Try(outcome, phase, case.time, case.stamp, (skip.message or first_line(skip.text)) if skip else "")
    main = bad[0] if len(bad) == 1 else next((part for part in bad if part.kind == "failure"), bad[0])
    outcome = Outcome.ERROR if case.category == ERROR else Outcome.FAILED
    phase, message = None, main.message or next((one.message for one in bad if one.message), "") or _message(main)
    if dialect is Dialect.PYTEST:
        phase, message = pytest_phase(main.kind, message)
    elif dialect is Dialect.GO and message == "Failed":
        message = next((line.strip() for line in main.text.splitlines() if line and not _GO_FRAME.match(line)), message)
    if _CRASH.match(message) or main.type == Outcome.CRASHED:
        outcome, phase = Outcome.CRASHED, None
    phase = _own_phase(case) or phase
    others = [part.text for part in bad if part is not main] if len(bad) > 1 else []
    texts = [main.text, *others, case.output]
    text = "\n".join([piece for piece in map(str.strip, texts) if piece])
    message = message or first_line(text)
    # Two failures may be two checks of one attempt, or two attempts: some tools write the one, some the other.
    alike = len(bad) > 1 and len({part.kind for part in bad}) < len(bad)
    known = not alike or ONE_ATTEMPT in case.facts or dialect in (Dialect.PYTEST, Dialect.GO)
    return Try(outcome, phase, case.time, case.stamp, message, text, known)


def _own_phase(case: Case) -> Phase | None:
    return next((phase for phase in Phase if f"phase={phase}" in case.facts), None) if case.facts else None


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
    return part.message or first_line(part.text) or (part.type if part.type != Outcome.CRASHED else "")


def first_line(text: str) -> str:
    """The first line that says something, as a message where a tool gave none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:1000]
