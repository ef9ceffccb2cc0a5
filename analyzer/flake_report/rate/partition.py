"""All change points of a history at once, by optimal partitioning.

Of all ways to cut a history into segments, the one is taken whose segments are together the most likely, where each
cut costs a factor of 10 000. With best[0] = 0 and C = ln 10^-4 it is found by

    best[t] = max over s < t of best[s] + ln L(s, t) + C (no cost for s = 0)

which is exact: the best cuts before s do not depend on what comes after. Source: Jackson et al., "An algorithm for
optimal partitioning of data on an interval", IEEE Signal Processing Letters 12 (2005). Cutting in two again and again
is not exact, and misses what lies in the middle of a long history: there one cut alone pays too little.

Cuts lie only where the outcome changes. That loses nothing: ln B(α, β) is the logarithm of an integral of exponentials
that are linear in α and β, so it is convex; moved through runs of one outcome a cut changes α and β of both sides
linearly; and a sum of convex functions is greatest at an end.

Without any change next to no history is cut, at rates from 0.5 to 30 %: none of 500 with 500 runs, also where each run
gets one of six machines with rates of their own; 1 in 500 where weeks of 50 runs have an ICC of 0.01. Where the rate
does stay elsewhere for long, the change is found, though nobody's commit made it: in 3 to 8 of 100 histories whose
weeks have an ICC of 0.05, in 10 to 45 of 100 where one machine after the other runs it 20 times on end, with an ICC of
0.2. Only a stretch that fails nearly always is a breakage then, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .likelihood import Counts, Likelihood

SPLIT = float(np.log(1e-4))
"""What one more change point must gain in ln L to be believed."""

_CELLS = 50_000  # counts in one batch: short histories share the cost of a numpy call, long ones stay in the cache


def change_points(histories: Sequence[Counts], likelihood: Likelihood) -> list[list[int]]:
    """For each history the blocks that begin a segment, the first left out, in order.

    A history is an array of (4, blocks): first-failed, runs, failed again, retried; a block holds neighbouring runs
    of one outcome. `likelihood` reaches to the longest history's runs.
    """
    found: list[list[int]] = [[] for _ in histories]
    order = sorted(range(len(histories)), key=lambda at: histories[at].shape[1])
    for batch in _batches(order, histories):
        previous = _previous(_stacked([histories[at] for at in batch]), likelihood)
        for row, at in enumerate(batch):
            found[at] = _traced(previous[row], histories[at].shape[1])
    return found


def _batches(order: Sequence[int], histories: Sequence[Counts]) -> Iterator[list[int]]:
    """Histories of much the same length together; those of one block have no place for a change."""
    batch: list[int] = []
    for at in order:
        blocks = histories[at].shape[1]
        if blocks < 2:
            continue
        if batch and (len(batch) + 1) * blocks > _CELLS:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def _stacked(histories: Sequence[Counts]) -> Counts:
    """Counts before each block, (4, histories, blocks + 1); a shorter history is followed by empty blocks."""
    longest = max(history.shape[1] for history in histories)
    sums = np.zeros((4, len(histories), longest + 1), dtype=np.int64)
    for row, history in enumerate(histories):
        sums[:, row, 1 : history.shape[1] + 1] = history
    return sums.cumsum(axis=2)


def _previous(sums: Counts, likelihood: Likelihood) -> NDArray[np.int64]:
    """Where the last segment before each place begins in the best partition up to it; (histories, blocks + 1)."""
    _, rows, places = sums.shape
    best = np.zeros((rows, places))
    previous = np.zeros((rows, places), dtype=np.int64)
    every = np.arange(rows)
    for t in range(1, places):
        gained = best[:, :t] + likelihood.log(*(sums[:, :, t : t + 1] - sums[:, :, :t]))
        gained[:, 1:] += SPLIT
        previous[:, t] = gained.argmax(axis=1)
        best[:, t] = gained[every, previous[:, t]]
    return previous


def _traced(previous: NDArray[np.int64], blocks: int) -> list[int]:
    points = []
    at = int(previous[blocks])
    while at:
        points.append(at)
        at = int(previous[at])
    return points[::-1]
