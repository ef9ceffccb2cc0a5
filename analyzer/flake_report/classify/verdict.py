"""From matches to causes: the root cause first, one event once, consequences left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from flake_report.model.failure import Captured, Cause, Match
from flake_report.model.joblog import JobLog, RegionKind, Session

from .fingerprint import fingerprint

_Key: TypeAlias = tuple[str, tuple[tuple[str, Captured], ...]]

OPEN = "message"
"""A row that captures this takes any failure of its kind: only the message tells two of them apart."""
_PER_COPY = frozenset({"pid", "rank", "test", OPEN})
"""Captures that differ between copies of one event."""


@dataclass(slots=True)
class _Event:
    """One thing that happened, with every match that tells of it."""

    test: str | None
    matches: list[Match] = field(default_factory=list)

    @property
    def told(self) -> Match:
        """The fullest telling, and of equals the first."""
        return min(self.matches, key=lambda match: (-len(match.captures), match.line))

    @property
    def wrapper(self) -> bool:
        return self.matches[0].signature.wrapper

    @property
    def open(self) -> bool:
        return _open(self.matches[0])

    @property
    def place(self) -> tuple[bool, int, int]:
        """What sorts the root cause first: no wrapper, early in the table, early in the log."""
        return self.wrapper, self.matches[0].rank, min(match.line for match in self.matches)


def causes(matches: Sequence[Match], log: JobLog) -> tuple[Cause, ...]:
    """Why the job failed, the root cause first; nothing where nothing failed.

    A wrapper is listed only where nothing better is in sight: then the cause is not in this log.
    """
    events = _events(_told(matches, log), log)
    specific = [event for event in events if not event.wrapper and not event.open]
    if specific:
        kept = [event for event in events if event in specific or (event.open and event.test and not event.wrapper)]
    else:
        kept = [event for event in events if not event.wrapper] or events
    return tuple(_cause(event) for event in sorted(kept, key=lambda event: event.place))


def _cause(event: _Event) -> Cause:
    told = event.told
    return Cause(
        signature=told.signature.name,
        title=told.signature.title,
        blame=told.signature.blame,
        line=told.line,
        text=told.text,
        hint=told.signature.hint,
        test=event.test,
        count=len(event.matches),
        captures=told.captures,
        wrapper=told.signature.wrapper,
    )


def _told(matches: Sequence[Match], log: JobLog) -> list[Match]:
    """The matches that can tell of a failure: not those of a job or a test that passed."""
    if log.exit_status == 0:
        return []
    if log.exit_status is None and log.sessions and all(_green(session) for session in log.sessions):
        last = max(session.last_line for session in log.sessions)
        return [match for match in matches if match.line > last]
    failed = {region.test for region in log.regions if region.kind is not RegionKind.RUNNING}
    return [match for match in matches if not _passed(match, log, failed)]


def _green(session: Session) -> bool:
    return session.ended and not session.failed and not session.errors


def _passed(match: Match, log: JobLog, failed: set[str]) -> bool:
    """Whether the line is output of a test that did not fail, in a session that came to its end."""
    region = log.region_at(match.line)
    if region is None or region.kind is not RegionKind.RUNNING or region.test in failed:
        return False
    session = next((one for one in log.sessions if one.first_line <= match.line <= one.last_line), None)
    return session is not None and session.ended and (_green(session) or bool(failed))


def _events(matches: Iterable[Match], log: JobLog) -> list[_Event]:
    """The matches by event: first those that belong to a test, then what no test accounts for."""
    by_test: dict[str, list[Match]] = {}
    loose: list[Match] = []
    for match in matches:
        test = log.test_at(match.line) or _named_test(match)
        if test is None:
            loose.append(match)
        else:
            by_test.setdefault(test, []).append(match)
    events: dict[tuple[str, _Key], _Event] = {}
    for test, own in by_test.items():
        best = min(own, key=lambda match: (match.signature.wrapper, match.rank, match.line))
        for match in own:
            if match.signature is best.signature and (not _open(match) or match is best or _key(match) == _key(best)):
                events.setdefault((test, _key(match)), _Event(test)).matches.append(match)
    return [*events.values(), *_loose_events(loose, list(events.values()))]


def _loose_events(loose: Iterable[Match], known: Sequence[_Event]) -> list[_Event]:
    """Events of no test; a copy of a test's event only adds to that event's count."""
    owners = {_key(event.matches[0]): event for event in reversed(known)}
    events: dict[_Key, _Event] = {}
    for match in loose:
        key = _key(match)
        event = owners.get(key) or events.setdefault(key, _Event(None))
        event.matches.append(match)
    return list(events.values())


def _named_test(match: Match) -> str | None:
    test = match.captures.get("test")
    return test if isinstance(test, str) else None


def _open(match: Match) -> bool:
    return OPEN in match.captures


def _key(match: Match) -> _Key:
    """What copies of one event have in common: the signature with its captures, else with the masked message."""
    captures = tuple(sorted((name, value) for name, value in match.captures.items() if name not in _PER_COPY))
    message = match.captures.get(OPEN)
    if isinstance(message, str):
        known = fingerprint(message)
        captures = (*captures, (OPEN, known.hash if known else message))
    return match.signature.name, captures
