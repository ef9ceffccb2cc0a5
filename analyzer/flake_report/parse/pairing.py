"""Which session of the attempts files is which session of the log: told by order, and by the tests that they share.

Commands do not tell: a recorder sees its arguments as the shell expanded them, a log shows the shell's text or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flake_report.model.results import TestId

_SHARED = 1000
"""A pair that shares its tests, and their outcomes."""
_DISAGREEING = 400
"""Taken off where an outcome differs: two sources of one session hardly ever do."""
_COUNTED = 500
"""The log names no test (it was quiet and all passed), but its last line counts as many."""
_ALIKE = 200
"""Equal keys: enough for a log that names no test, else it settles what is even."""
_IN_ORDER = 100
"""Nothing but as many sessions here as there."""


@dataclass(frozen=True, slots=True)
class Told:
    """A session as one source tells of it: whether each test was bad in the end, and how many the runner counted.

    None is an end that cannot be compared: each of several workers had its own.
    """

    key: str
    bad: Mapping[TestId, bool | None]
    count: int | None = None


def pairs(recorded: Sequence[Told], logged: Sequence[Told]) -> dict[int, int]:
    """Of recorded sessions, in order of time, the place of each one's session in the log, where it has one.

    Of all pairings in which no two pairs cross, the one that is most alike: a longest common subsequence with weights.
    """
    in_order = _IN_ORDER if len(recorded) == len(logged) else 0
    numbers: dict[TestId, int] = {}
    ours, theirs = ([_Ends.of(one.bad, numbers) for one in told] for told in (recorded, logged))
    alike = [
        [_likeness(one, ends, other, others, in_order) for other, others in zip(logged, theirs, strict=True)]
        for one, ends in zip(recorded, ours, strict=True)
    ]
    best = [[0] * (len(logged) + 1) for _ in range(len(recorded) + 1)]
    for row in reversed(range(len(recorded))):
        for column in reversed(range(len(logged))):
            best[row][column] = max(
                best[row + 1][column], best[row][column + 1], alike[row][column] + best[row + 1][column + 1]
            )
    found: dict[int, int] = {}
    row = column = 0
    while row < len(recorded) and column < len(logged):
        likeness = alike[row][column]
        if likeness and best[row][column] == likeness + best[row + 1][column + 1]:
            found[row] = column
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return found


@dataclass(frozen=True, slots=True)
class _Ends:
    """Tests by how they ended, as numbers: every session is compared with every other."""

    bad: frozenset[int]
    good: frozenset[int]
    all: frozenset[int]

    @classmethod
    def of(cls, bad: Mapping[TestId, bool | None], numbers: dict[TestId, int]) -> _Ends:
        by_end: dict[bool | None, set[int]] = {True: set(), False: set(), None: set()}
        for test, end in bad.items():
            by_end[end].add(numbers.setdefault(test, len(numbers)))
        bad_ones, good, unclear = (frozenset(by_end[end]) for end in (True, False, None))
        return cls(bad_ones, good, bad_ones | good | unclear)

    def differing(self, other: _Ends) -> int:
        """How many tests ended badly here and well there, or the other way round."""
        return len(self.bad & other.good) + len(self.good & other.bad)


def _likeness(recorded: Told, ours: _Ends, logged: Told, theirs: _Ends, in_order: int) -> int:
    """How much speaks for one session; 0 where it cannot be one."""
    same_key = _ALIKE if recorded.key == logged.key else 0
    if not theirs.all:
        if logged.count is not None:
            return (_COUNTED if logged.count == len(ours.all) else 0) + same_key
        return same_key or in_order
    shared = len(ours.all & theirs.all)
    agreeing = shared - ours.differing(theirs)
    if shared * 2 <= min(len(ours.all), len(theirs.all)) or agreeing * 2 <= shared:
        return 0
    return _SHARED * agreeing // shared - (0 if agreeing == shared else _DISAGREEING) + same_key
