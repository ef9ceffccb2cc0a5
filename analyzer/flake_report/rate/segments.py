"""Histories into segments of one rate each, with the interval in which each change lies, and which are breakages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flake_report.model.rate import Fleet, History
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
    """One history's runs with an own attempt, in order, and its segments; no segment where there is no such run."""

    runs: Sequence[Piece]
    segments: tuple[Segment, ...]

    @property
    def stretches(self) -> Iterator[tuple[Segment, Sequence[Piece]]]:
        """Each segment with its runs."""
        low = 0
        for segment in self.segments:
            high, runs = low, 0
            while runs < segment.runs:
                runs += self.runs[high].count
                high += 1
            yield segment, self.runs[low:high]
            low = high

    @property
    def sound(self) -> list[Piece]:
        """The runs outside breakages."""
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
    """Each history in its segments."""
    split = [pieces(history) for history in fleet.histories]
    longest = max((sum(piece.count for piece in history) for history in split), default=0)
    likelihood = Likelihood.up_to(longest)
    blocked = [blocks(history) for history in split]
    changes = change_points([counts(history) for history in blocked], likelihood)
    pools = {(pool.step, pool.queue): pool.orders for pool in fleet.pools}
    return [
        Parted(runs, _segments(runs, parts, points, pool=_pool(history, pools), likelihood=likelihood))
        for history, runs, parts, points in zip(fleet.histories, split, blocked, changes, strict=True)
    ]


def _pool(history: History, pools: Mapping[tuple[str, str], Sequence[int]]) -> Sequence[int]:
    return pools.get((history.variant.step, history.variant.queue), ())


def _segments(
    history: Sequence[Piece],
    blocked: Sequence[Sequence[Piece]],
    points: Sequence[int],
    *,
    pool: Sequence[int],
    likelihood: Likelihood,
) -> tuple[Segment, ...]:
    if not history:
        return ()
    parts = [blocked[low:high] for low, high in pairwise([0, *points, len(blocked)])]
    begins = [(None, None), *_positions(parts, history, pool, likelihood)]
    return tuple(
        _segment([piece for block in part for piece in block], *begin)
        for part, begin in zip(parts, begins, strict=True)
    )


def _segment(part: Sequence[Piece], earliest: int | None, latest: int | None) -> Segment:
    runs = sum(piece.count for piece in part)
    failed = sum(piece.failed for piece in part)
    return Segment(
        first=part[0].first,
        last=max(piece.last for piece in part),
        runs=runs,
        first_failed=sum(piece.outcome[0] for piece in part),
        retried=sum(piece.outcome[1] for piece in part),
        failed=failed,
        failed_after_retry=sum(piece.outcome[2] for piece in part),
        breakage=runs >= LEAST and failed >= BROKEN * runs,
        earliest=earliest,
        latest=latest,
    )


def _positions(
    parts: Sequence[Sequence[Sequence[Piece]]], history: Sequence[Piece], pool: Sequence[int], likelihood: Likelihood
) -> list[tuple[int, int]]:
    """For each change the orders between which its segment begins, with 95 % probability."""
    if len(parts) < 2:
        return []
    single = _run_by_run(history)
    ends = np.cumsum([sum(piece.count for block in part for piece in block) for part in parts])
    found = []
    for before, change, after in zip([0, *ends[:-2]], ends[:-1], ends[1:], strict=True):
        low, high = position(single[:, before : after + 1], int(change - before), likelihood)
        found.append((order_of(history, before + low, pool), order_of(history, before + high, pool)))
    return found


def _run_by_run(history: Sequence[Piece]) -> Counts:
    """Counts before each run and after the last; (4, runs + 1)."""
    repeated = np.repeat(counts([[piece] for piece in history]) > 0, [piece.count for piece in history], axis=1)
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
