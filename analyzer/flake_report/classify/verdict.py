"""From matches to causes: the root cause first, one event once, consequences left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from flake_report.model.failure import Blame, Captured, Cause, Match
from flake_report.model.joblog import JobLog, RegionKind, Session

from .fingerprint import fingerprint
from .message import message

_Key: TypeAlias = tuple[str, tuple[tuple[str, Captured], ...]]

_OPEN = "message"
"""A row that captures this takes any failure of its kind: only the message tells two of them apart."""
_PER_COPY = frozenset({"pid", "rank", "test", _OPEN})
"""Captures that differ between copies of one event."""
_TOLD_AT_ONCE = frozenset({Blame.TEST, Blame.GPU_MEMORY, Blame.GPU})
"""Where equal copies of an event are echoes; elsewhere they are retries, and the last one failed the job."""


class _Strength(IntEnum):
    """How much a match says of the cause, most first."""

    SPECIFIC = 0
    OPEN = 1
    WEAK = 2
    WRAPPER = 3


@dataclass(slots=True)
class _Event:
    """One thing that happened, with every match that tells of it."""

    test: str | None
    matches: list[Match] = field(default_factory=list)

    @property
    def strength(self) -> _Strength:
        """An open row that names its test tells as much of it as any other."""
        strength = _strength(self.matches[0])
        return _Strength.SPECIFIC if strength is _Strength.OPEN and self.test is not None else strength

    @property
    def told(self) -> Match:
        """The fullest telling, and of equals the first; of something tried again, its last try."""
        first = min(self.matches, key=lambda match: (-len(match.captures), match.line))
        if first.signature.blame in _TOLD_AT_ONCE or _OPEN in first.captures:
            return first
        text = message(first.text)
        return max((match for match in self.matches if message(match.text) == text), key=lambda match: match.line)

    @property
    def place(self) -> tuple[int, int, int]:
        """What sorts the root cause first: its strength, its row's place in the table, its first line."""
        return self.strength, self.matches[0].rank, min(match.line for match in self.matches)


def causes(matches: Sequence[Match], log: JobLog) -> tuple[Cause, ...]:
    """Why the job failed, the root cause first; nothing where nothing failed.

    Of what says less, nothing is listed while something better is in sight. Wrappers alone mean that the cause is not
    in this log.
    """
    events = sorted(_events(_told(matches, log), log), key=lambda event: event.place)
    if not events:
        return ()
    strongest = events[0].strength
    return tuple(_cause(event) for event in events if event.strength is strongest)


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


def _strength(match: Match) -> _Strength:
    if match.signature.wrapper:
        return _Strength.WRAPPER
    if match.signature.weak:
        return _Strength.WEAK
    return _Strength.OPEN if _OPEN in match.captures else _Strength.SPECIFIC


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
        for match in _best_of_test(own):
            events.setdefault((test, _key(match)), _Event(test)).matches.append(match)
    return [*events.values(), *_loose_events(loose, list(events.values()))]


def _best_of_test(own: Sequence[Match]) -> list[Match]:
    """What of a test's matches tells its cause; the rest follows from it.

    An outage in a test's own output explains an exception in it, but no failed comparison.
    """
    compares = any("AssertionError" in match.text or "assert " in match.text for match in own)

    def order(match: Match) -> tuple[float, int, int]:
        strength = _strength(match)
        weight = _Strength.SPECIFIC + 0.5 if strength is _Strength.WEAK and not compares else float(strength)
        return weight, match.rank, match.line

    best = min(own, key=order)
    if _OPEN in best.captures:
        return [match for match in own if match.signature is best.signature and _key(match) == _key(best)]
    return [match for match in own if match.signature is best.signature and _OPEN not in match.captures]


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


def _key(match: Match) -> _Key:
    """What copies of one event have in common: the signature with its captures, else with the masked message."""
    captures = tuple(sorted((name, value) for name, value in match.captures.items() if name not in _PER_COPY))
    said = match.captures.get(_OPEN)
    if isinstance(said, str):
        known = fingerprint(said)
        captures = (*captures, (_OPEN, known.hash if known else said))
    return match.signature.name, captures
