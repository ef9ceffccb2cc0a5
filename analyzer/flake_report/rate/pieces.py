"""A history as what the change points are sought in: runs with an own attempt, in order, plain passes counted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flake_report.model.rate import History, Run, RunVerdict

from .likelihood import Counts

OWN = frozenset({RunVerdict.PASSED, RunVerdict.FLAKY, RunVerdict.FAILED})
"""Verdicts of runs with an attempt that ended by itself."""

Outcome: TypeAlias = tuple[bool, bool, bool]
"""Of a run: its first attempt failed; it was tried again after that; it failed again."""

_PASS: Outcome = (False, False, False)


class Piece(NamedTuple):
    """One told run, or a streak of plain passes; `run` is None for a streak. A tuple, for a fleet has millions."""

    first: int
    last: int
    size: int
    outcome: Outcome = _PASS
    run: Run | None = None

    @property
    def failed(self) -> bool:
        """Whether it failed on every attempt."""
        return self.run is not None and self.run.verdict is RunVerdict.FAILED


def pieces(history: History) -> list[Piece]:
    """The history's runs with an own attempt, in order. Victims, lost and skipped runs are none."""
    passed = [Piece(streak.first_order, streak.last_order, streak.runs) for streak in history.passes]
    told = [Piece(run.order, run.order, 1, _outcome(run), run) for run in history.runs if run.verdict in OWN]
    return sorted([*told, *passed], key=itemgetter(0)) if told else passed


def _outcome(run: Run) -> Outcome:
    return run.first_failed, run.retried, run.retried and run.verdict is RunVerdict.FAILED


def counts(histories: Sequence[Sequence[Piece]]) -> list[Counts]:
    """Of each history first-failed, runs, failed again, retried of each piece; (4, pieces)."""
    whole = [piece for history in histories for piece in history]  # all at once: most are short
    runs = np.array([piece.size for piece in whole], dtype=np.int64)
    failed, retried, again = np.array([piece.outcome for piece in whole], dtype=np.int64).reshape(-1, 3).T
    table = np.stack([runs * failed, runs, runs * again, runs * retried])
    ends = pairwise([0, *accumulate(map(len, histories))])
    return [table[:, begin:end] for begin, end in ends]


def blocks(tables: Sequence[Counts]) -> list[NDArray[np.int64]]:
    """Of each history the pieces with which a new outcome begins, the first among them; `tables` as from `counts`."""
    if not tables:
        return []
    outcome = np.concatenate(tables, axis=1)[[0, 2, 3]] > 0  # all at once, as there
    starts = np.cumsum([0, *(table.shape[1] for table in tables)])
    changes = np.ones(outcome.shape[1], dtype=np.bool_)
    changes[1:] = (outcome[:, 1:] != outcome[:, :-1]).any(axis=0)
    changes[starts[:-1]] = True
    begins = np.flatnonzero(changes)
    cuts = pairwise(np.searchsorted(begins, starts).tolist())
    return [begins[low:high] - start for (low, high), start in zip(cuts, starts.tolist(), strict=False)]


def order_of(history: Sequence[Piece], nth: int, pool: Sequence[int]) -> int:
    """The order of the build of the nth run, from 0; `pool` are the builds in which the history's pool ran.

    Inside a streak it is exact where the test ran in every build of its pool between the streak's ends; else the
    streak's runs are taken to lie evenly among them.
    """
    for piece in _joined(history):
        if nth < piece.size:
            return _inside(piece, nth, pool)
        nth -= piece.size
    return max(piece.last for piece in history)


def _joined(history: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, streaks that interleave as one: clocks that went wrong put builds of one stretch into many weeks."""
    whole = history[0]
    for piece in history[1:]:
        if piece.first < whole.last:
            whole = whole._replace(last=max(whole.last, piece.last), size=whole.size + piece.size)
        else:
            yield whole
            whole = piece
    yield whole


def _inside(piece: Piece, nth: int, pool: Sequence[int]) -> int:
    if nth in (0, piece.size - 1):
        return piece.first if nth == 0 else piece.last
    low, high = bisect_left(pool, piece.first), bisect_right(pool, piece.last)
    if high - low < piece.size:  # the pool is not told
        return piece.first + round(nth * (piece.last - piece.first) / (piece.size - 1))
    return pool[low + round(nth * (high - low - 1) / (piece.size - 1))]
