"""A history as what the change points are sought in: runs with an own attempt, in order, plain passes counted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from flake_report.model.rate import History, Run, RunVerdict

from .likelihood import Counts

OWN = frozenset({RunVerdict.PASSED, RunVerdict.FLAKY, RunVerdict.FAILED})
"""Verdicts of runs with an attempt that ended by itself."""

Outcome: TypeAlias = tuple[bool, bool, bool]
"""Of a run: its first attempt failed; it was tried again after that; it failed again."""

_PASS: Outcome = (False, False, False)


@dataclass(frozen=True, slots=True)
class Piece:
    """One told run, or a streak of plain passes; `run` is None for a streak."""

    first: int
    last: int
    count: int
    outcome: Outcome = _PASS
    failed: bool = False
    run: Run | None = None


def pieces(history: History) -> list[Piece]:
    """The history's runs with an own attempt, in order. Victims, lost and skipped runs are none."""
    told = [_told(run) for run in history.runs if run.verdict in OWN]
    passed = [Piece(streak.first_order, streak.last_order, streak.count) for streak in history.passes]
    return sorted([*told, *passed], key=attrgetter("first"))


def _told(run: Run) -> Piece:
    failed = run.verdict is RunVerdict.FAILED
    outcome = run.first_failed, run.retried, failed and run.retried
    return Piece(run.order, run.order, 1, outcome, failed, run)


def blocks(history: Sequence[Piece]) -> list[list[Piece]]:
    """Neighbouring pieces of one outcome together."""
    return [list(same) for _, same in groupby(history, key=attrgetter("outcome"))]


def counts(parts: Sequence[Sequence[Piece]]) -> Counts:
    """First-failed, runs, failed again, retried of each part; (4, parts)."""
    return np.array(list(_counted(parts)), dtype=np.int64).reshape(-1, 4).T


def _counted(parts: Sequence[Sequence[Piece]]) -> Iterator[tuple[int, int, int, int]]:
    for part in parts:
        runs = sum(piece.count for piece in part)
        failed, retried, again = part[0].outcome
        yield runs * failed, runs, runs * again, runs * retried


def order_of(history: Sequence[Piece], nth: int, pool: Sequence[int]) -> int:
    """The order of the build of the nth run, from 0; `pool` are the builds in which the history's pool ran.

    Inside a streak it is exact where the test ran in every build of its pool between the streak's ends; else the
    streak's runs are taken to lie evenly among them.
    """
    for piece in history:
        if nth < piece.count:
            return _inside(piece, nth, pool)
        nth -= piece.count
    return history[-1].last


def _inside(piece: Piece, nth: int, pool: Sequence[int]) -> int:
    if nth in (0, piece.count - 1):
        return piece.first if nth == 0 else piece.last
    low, high = bisect_left(pool, piece.first), bisect_right(pool, piece.last)
    if high - low < piece.count:  # the pool is not told
        return piece.first + round(nth * (piece.last - piece.first) / (piece.count - 1))
    return pool[low + round(nth * (high - low - 1) / (piece.count - 1))]
