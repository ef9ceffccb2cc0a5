"""From matches to causes: the root cause first, consequences left out, nothing where nothing failed."""

from __future__ import annotations

from collections.abc import Sequence

from flake_report.model.failure import Cause, Match
from flake_report.model.joblog import JobLog, RegionKind, Session

from .events import Event, Strength, events
from .kvcache import settle
from .process import ENGINE, process_of, wrapped

_RUNNERS_ERROR = "##[error]"
"""How GitHub Actions marks what failed a step."""
_LAST_LINES = 50
"""Where nothing says that a job failed, an exception among its last lines does."""
_LONGEST_TITLE = 120
"""Characters of a title that is made of an unknown failure's message."""


def causes(matches: Sequence[Match], log: JobLog) -> tuple[Cause, ...]:
    """Why the job failed, the root cause first; nothing where nothing failed.

    Of what says less, nothing is listed while something better is in sight. Wrappers alone mean that the cause is not
    in this log.
    """
    told = settle(_told(matches, log), log)
    found = sorted(events(told, log), key=lambda event: event.place)
    if not _failed(told, log):
        found = [event for event in found if event.strength is Strength.SPECIFIC or _at_the_end(event, log)]
    kept = [event for event in found if event.strength is found[0].strength]
    if kept and kept[0].strength is Strength.WRAPPER:
        # One wrapper wraps the next: a failed engine fails its test, which fails the command. The innermost is told.
        kept = [event for event in kept if event.told.signature is kept[0].told.signature]
    apart = _tests_with_engines_apart(told, log)
    return tuple(_cause(event, apart) for event in kept)


def _failed(told: Sequence[Match], log: JobLog) -> bool:
    """Whether anything says that the job failed, beside messages that green jobs print as well."""
    return (
        log.exit_status is not None
        or any(session.failed or session.errors or not session.ended for session in log.sessions)
        or any(match.signature.wrapper or match.text.startswith(_RUNNERS_ERROR) for match in told)
    )


def _at_the_end(event: Event, log: JobLog) -> bool:
    return max(match.line for match in event.matches) > log.lines - _LAST_LINES


def _tests_with_engines_apart(told: Sequence[Match], log: JobLog) -> frozenset[str | None]:
    """The tests whose engine ran in a process of its own, by what wraps its failure; None for a log without tests."""
    tests = {log.test_at(match.line) for match in told if match.signature.wrapper and wrapped(match.text)}
    return frozenset(test for test in tests if test is not None or not log.sessions)


def _cause(event: Event, apart: frozenset[str | None]) -> Cause:
    told, known = event.told, event.fingerprint
    process = process_of(match.text for match in event.matches)
    return Cause(
        signature=told.signature.name,
        title=_shortened(known.title) if known else told.signature.title,
        blame=told.signature.blame,
        line=told.line,
        text=told.text,
        hint=told.signature.hint,
        test=event.test,
        count=len(event.matches),
        captures=told.captures,
        wrapper=told.signature.wrapper,
        fingerprint=known.hash if known else "",
        process=process or (ENGINE if event.test in apart else ""),
    )


def _shortened(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1].rstrip()}…"


def _told(matches: Sequence[Match], log: JobLog) -> list[Match]:
    """The matches that can tell of a failure: not those of a job or a test that passed."""
    if log.exit_status == 0:
        return []
    pytest = [session for session in log.sessions if session.runner == "pytest"]
    if log.exit_status is None and pytest and all(_green(session) for session in pytest):
        last = max(session.last_line for session in pytest)
        return [match for match in matches if match.line > last]
    failed = {region.test for region in log.regions if region.kind is not RegionKind.RUNNING}
    return [match for match in matches if not _passed(match, log, failed)]


def _green(session: Session) -> bool:
    return session.ended and session.passed > 0 and not session.failed and not session.errors


def _passed(match: Match, log: JobLog, failed: set[str]) -> bool:
    """Whether the line is output of a test that did not fail, in a session that came to its end."""
    region = log.region_at(match.line)
    if region is None or region.kind is not RegionKind.RUNNING or region.test in failed:
        return False
    session = next((one for one in log.sessions if one.first_line <= match.line <= one.last_line), None)
    return session is not None and session.ended and (_green(session) or bool(failed))
