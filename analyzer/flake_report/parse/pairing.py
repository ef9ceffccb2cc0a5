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
    alike = [[_likeness(one, other, in_order) for other in logged] for one in recorded]
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


def _likeness(recorded: Told, logged: Told, in_order: int) -> int:
    """How much speaks for one session; 0 where it cannot be one."""
    same_key = _ALIKE if recorded.key == logged.key else 0
    if not logged.bad:
        if logged.count is not None:
            return (_COUNTED if logged.count == len(recorded.bad) else 0) + same_key
        return same_key or in_order
    few, many = sorted((recorded.bad, logged.bad), key=len)
    shared = [test for test in few if test in many]
    if len(shared) * 2 <= len(few):
        return 0
    agreeing = sum(None in (few[test], many[test]) or few[test] == many[test] for test in shared)
    if agreeing * 2 <= len(shared):
        return 0
    differing = 0 if agreeing == len(shared) else _DISAGREEING
    return _SHARED * agreeing // len(shared) - differing + same_key
