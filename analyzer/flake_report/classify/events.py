"""Matches that tell of one event, brought together: one event is printed up to six times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from flake_report.model.failure import Blame, Captured, Match
from flake_report.model.joblog import JobLog

from .fingerprint import Fingerprint, fingerprint
from .message import message

_Told: TypeAlias = frozenset[tuple[str, Captured]]

_OPEN = "message"
"""A row that captures this takes any failure of its kind: only the message tells two of them apart."""
_PER_COPY = frozenset({"pid", "rank", "test", _OPEN})
"""Captures that differ between copies of one event."""
_TOLD_AT_ONCE = frozenset({Blame.TEST, Blame.GPU_MEMORY, Blame.GPU})
"""Where equal copies of an event are echoes; elsewhere they are retries, and the last one failed the job."""
_MOST_COMPARED = 100
"""Events of one kind with which a match is compared that repeats none of them exactly."""


class Strength(IntEnum):
    """How much a match says of the cause, most first."""

    SPECIFIC = 0
    OPEN = 1
    WEAK = 2
    WRAPPER = 3


@dataclass(slots=True)
class Event:
    """One thing that happened, with every match that tells of it; `fullest` is the one that captured most."""

    test: str | None
    matches: list[Match]
    fullest: Match

    def add(self, match: Match) -> None:
        """One more telling."""
        self.matches.append(match)
        self.fullest = max(self.fullest, match, key=lambda one: (len(one.captures), -one.line))

    @property
    def strength(self) -> Strength:
        """An open row that names its test tells as much of it as any other."""
        strength = strength_of(self.matches[0])
        return Strength.SPECIFIC if strength is Strength.OPEN and self.test is not None else strength

    @property
    def told(self) -> Match:
        """The fullest telling; of something that was tried again in the same words, its last try."""
        if self.fullest.signature.blame in _TOLD_AT_ONCE or _OPEN in self.fullest.captures:
            return self.fullest
        text = message(self.fullest.text)
        return max((match for match in self.matches if message(match.text) == text), key=lambda match: match.line)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """What groups an unknown failure over builds; known ones have their signature for that."""
        said = self.fullest.captures.get(_OPEN)
        return fingerprint(said) if isinstance(said, str) else None

    @property
    def place(self) -> tuple[int, int, int]:
        """What sorts the root cause first: its strength, its row's place in the table, its first line."""
        return self.strength, self.matches[0].rank, min(match.line for match in self.matches)


def strength_of(match: Match) -> Strength:
    """What kind of row matched."""
    if match.signature.wrapper:
        return Strength.WRAPPER
    if match.signature.weak:
        return Strength.WEAK
    return Strength.OPEN if _OPEN in match.captures else Strength.SPECIFIC


def events(matches: Iterable[Match], log: JobLog) -> list[Event]:
    """The events of which matches in line order tell: first those that belong to a test, then the others."""
    by_test: dict[str, list[Match]] = {}
    loose: list[Match] = []
    for match in matches:
        test = log.test_at(match.line) or _named_test(match)
        if test is None:
            loose.append(match)
        else:
            by_test.setdefault(test, []).append(match)
    found = _Events()
    for test, own in by_test.items():
        for match in _best_of_test(own):
            found.add(match, test)
    for match in loose:
        found.add(match, None)
    return found.all


class _Events:
    """Events under collection: a copy only adds to the event that it tells of."""

    def __init__(self) -> None:
        self.all: list[Event] = []
        self._exact: dict[tuple[str, str, str | None, _Told], Event] = {}
        self._kin: dict[tuple[str, str], list[Event]] = {}

    def add(self, match: Match, test: str | None) -> None:
        """File a match: of a test under that test, of none under any event that it can be a copy of."""
        kind = (match.signature.name, _said(match))
        told = frozenset((name, value) for name, value in match.captures.items() if name not in _PER_COPY)
        event = self._exact.get((*kind, test, told)) or self._kin_of(match, kind, test)
        if event is None:
            event = Event(test, [], match)
            self.all.append(event)
            self._kin.setdefault(kind, []).append(event)
        self._exact[(*kind, test, told)] = event
        event.add(match)

    def _kin_of(self, match: Match, kind: tuple[str, str], test: str | None) -> Event | None:
        for event in self._kin.get(kind, ())[:_MOST_COMPARED]:
            if test in (event.test, None) and _agree(event.fullest, match, same_test=test == event.test):
                return event
        return None


def _best_of_test(own: Sequence[Match]) -> list[Match]:
    """What of a test's matches tells its cause; the rest follows from it.

    An outage in a test's own output explains an exception in it, but no failed comparison.
    """
    compares = any("AssertionError" in match.text or "assert " in match.text for match in own)

    def order(match: Match) -> tuple[float, int, int]:
        strength = strength_of(match)
        weight = Strength.SPECIFIC + 0.5 if strength is Strength.WEAK and not compares else float(strength)
        return weight, match.rank, match.line

    best = min(own, key=order)
    return [match for match in own if match.signature is best.signature and _said(match) == _said(best)]


def _named_test(match: Match) -> str | None:
    test = match.captures.get("test")
    return test if isinstance(test, str) else None


def _said(match: Match) -> str:
    """What tells two open matches apart: the masked message; empty where the captures do."""
    said = match.captures.get(_OPEN)
    if not isinstance(said, str):
        return ""
    known = fingerprint(said)
    return known.hash if known else said


def _agree(one: Match, other: Match, *, same_test: bool) -> bool:
    """Whether two matches can be of one event: one says all that the other does, and nothing else of it.

    One that says nothing at all can be of any event, so it counts as a copy only within its own test.
    """
    left, right = one.captures.keys() - _PER_COPY, other.captures.keys() - _PER_COPY
    if bool(left) != bool(right) and not same_test:
        return False
    return (left <= right or right <= left) and all(one.captures[name] == other.captures[name] for name in left & right)
