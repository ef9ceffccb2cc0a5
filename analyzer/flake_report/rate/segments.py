"""Histories into segments of one rate each, with the interval in which each change lies, and which are breakages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flake_report.model.rate import Fleet, Streak
from flake_report.model.verdict import Segment

from .intervals import LEVEL
from .likelihood import Counts, Likelihood
from .partition import change_points
from .pieces import Piece, blocks, counts, order_of, pieces

BROKEN = 0.9
"""The share of runs that fail on every attempt from which on a segment is a breakage.

It is not taken over first attempts: a test that fails one time in three, and passes when it is tried again, is no
regression however often it is tried.
"""

LEAST = 2
"""Runs that a breakage has at least: one failed run alone looks the same whatever is behind it."""


@dataclass(frozen=True, slots=True)
class Parted:
    """One history's runs with an own attempt, in order, and its segments; no segment where there is no such run.

    Segment k holds the runs from `bounds[k]` to before `bounds[k + 1]`.
    """

    runs: Sequence[Piece]
    segments: tuple[Segment, ...]
    bounds: tuple[int, ...]

    @property
    def stretches(self) -> Iterator[tuple[Segment, Sequence[Piece]]]:
        """Each segment with its runs."""
        for segment, (low, high) in zip(self.segments, pairwise(self.bounds), strict=True):
            yield segment, self.runs[low:high]

    @property
    def sound(self) -> Sequence[Piece]:
        """The runs outside breakages."""
        if not any(segment.breakage for segment in self.segments):
            return self.runs
        return [piece for segment, runs in self.stretches if not segment.breakage for piece in runs]

    @property
    def first(self) -> int | None:
        """The order of the first build; None without any run."""
        return self.segments[0].first if self.segments else None

    @property
    def last(self) -> int | None:
        """The order of the last build; None without any run."""
        return self.segments[-1].last if self.segments else None


def parted(fleet: Fleet) -> list[Parted]:
    """Each history in its segments; those that passed alike, with nothing to tell, share one object."""
    pools = {(pool.step, pool.queue): pool.orders for pool in fleet.pools}
    found: dict[int, Parted] = {}
    quiet: dict[tuple[Streak, ...], Parted] = {}
    told: list[tuple[int, Sequence[Piece]]] = []
    for at, history in enumerate(fleet.histories):
        if not history.runs:
            found[at] = quiet.get(history.passes) or quiet.setdefault(history.passes, _passed(pieces(history)))
            continue
        runs = pieces(history)
        if any(piece.run for piece in runs):
            told.append((at, runs))
        else:
            found[at] = _passed(runs)
    tables = counts([runs for _, runs in told])
    likelihood = Likelihood.up_to(max((int(table[1].sum()) for table in tables), default=0))
    begins = blocks(tables)
    cuts = change_points(
        [np.add.reduceat(table, begin, axis=1) for table, begin in zip(tables, begins, strict=True)], likelihood
    )
    for (at, mine), table, begin, points in zip(told, tables, begins, cuts, strict=True):
        variant = fleet.histories[at].variant
        one = _Open(mine, table, pools.get((variant.step, variant.queue), ()))
        found[at] = _parted(one, [0, *begin[points].tolist(), len(mine)], likelihood)
    return [found[at] for at in range(len(found))]


def _passed(runs: Sequence[Piece]) -> Parted:
    """A history that never failed: one segment."""
    if not runs:
        return Parted((), (), (0,))
    total = sum(piece.size for piece in runs)
    return Parted(runs, (Segment(runs[0].first, _last(runs), total, 0, 0, 0, 0, breakage=False),), (0, len(runs)))


@dataclass(frozen=True, slots=True)
class _Open:
    """A history with told runs, not yet cut: its runs, their counts, and the builds of its pool."""

    runs: Sequence[Piece]
    table: Counts
    pool: Sequence[int]


def _parted(one: _Open, bounds: list[int], likelihood: Likelihood) -> Parted:
    sums = np.add.reduceat(one.table, bounds[:-1], axis=1).T.tolist()
    begins = [(None, None), *_positions(one, bounds, likelihood)]
    segments = tuple(
        _segment(one.runs[low:high], counted, begin)
        for (low, high), counted, begin in zip(pairwise(bounds), sums, begins, strict=True)
    )
    return Parted(one.runs, segments, tuple(bounds))


def _segment(part: Sequence[Piece], counted: list[int], begin: tuple[int | None, int | None]) -> Segment:
    first_failed, runs, again, retried = counted
    failed = first_failed - retried + again  # what failed first and was not tried again failed on every attempt
    return Segment(
        first=part[0].first,
        last=_last(part),
        runs=runs,
        first_failed=first_failed,
        retried=retried,
        failed=failed,
        failed_after_retry=again,
        breakage=runs >= LEAST and failed >= BROKEN * runs,
        earliest=begin[0],
        latest=begin[1],
    )


def _last(part: Sequence[Piece]) -> int:
    """The last order: streaks of several weeks may interleave, so it need not be the last piece's."""
    return max(piece.last for piece in part)


def _positions(one: _Open, bounds: Sequence[int], likelihood: Likelihood) -> list[tuple[int, int]]:
    """For each change the orders between which its segment begins, with 95 % probability."""
    if len(bounds) < 3:
        return []
    single = _run_by_run(one.table)
    ends = np.concatenate([[0], one.table[1].cumsum()])[np.array(bounds)].tolist()
    found = []
    for before, change, after in zip(ends, ends[1:], ends[2:], strict=False):
        low, high = position(single[:, before : after + 1], change - before, likelihood)
        found.append((order_of(one.runs, before + low, one.pool), order_of(one.runs, before + high, one.pool)))
    return found


def _run_by_run(table: Counts) -> Counts:
    """Counts before each run and after the last; (4, runs + 1)."""
    repeated = np.repeat(table > 0, table[1], axis=1)
    return np.concatenate([np.zeros((4, 1), dtype=np.int64), repeated.cumsum(axis=1)], axis=1)


def position(sums: Counts, change: int, likelihood: Likelihood) -> tuple[int, int]:
    """The runs between which the one change among these runs lies with 95 %; `change` is where it most likely is.

    `sums` are the counts before each run and after the last, (4, runs + 1), of two neighbouring segments together. The
    change is before run k, 0 < k < runs, each k equally likely beforehand. Given the counts y,

        P(k | y) = L(y before k) · L(y from k on) / Σ over j of L(y before j) · L(y from j on)

    and the ends are where the sum over k reaches 2.5 % and 97.5 %. The change points on both sides are taken as
    known: the interval does not hold what is uncertain about them.
    """
    inner = sums[:, 1:-1]
    log = likelihood.log(*(inner - sums[:, :1])) + likelihood.log(*(sums[:, -1:] - inner))
    weight = np.exp(log - log.max())
    below = np.cumsum(weight) / weight.sum()
    tail = (1 - LEVEL) / 2
    low, high = np.searchsorted(below, [tail, 1 - tail]) + 1
    return min(int(low), change), max(int(high), change)
