"""Rules that are known to be bad, and that a simulation worth its name must show to be."""

from __future__ import annotations

import numpy as np

from flake_report.model.rate import Fleet, History, RunVerdict
from flake_report.rate.episodes import episodes
from flake_report.rate.likelihood import Counts, Likelihood
from flake_report.rate.lines import Lines, line_of
from flake_report.rate.partition import SPLIT
from flake_report.rate.segments import parted


def flip_or_two_episodes(fleet: Fleet) -> list[bool]:
    """Flaky is what failed and passed in one build, or failed in two separate stretches."""
    called = []
    for history, parts in zip(fleet.histories, parted(fleet), strict=True):
        mixed = any(piece.run and piece.run.verdict is RunVerdict.FLAKY for piece in parts.sound)
        called.append(mixed or len(episodes(parts, lines(fleet, history))) >= 2)
    return called


def red_between_green(fleet: Fleet) -> list[bool]:
    """Flaky is what failed and passed in one build, or failed in one between two that passed."""
    called = []
    for history, parts in zip(fleet.histories, parted(fleet), strict=True):
        mixed = any(run.verdict is RunVerdict.FLAKY for run in history.runs)
        alone = any(len(episode.runs) == 1 and not episode.newest for episode in episodes(parts, lines(fleet, history)))
        called.append(mixed or alone)
    return called


def lines(fleet: Fleet, history: History) -> Lines:
    variant = history.variant
    pools = {(pool.step, pool.queue): pool.orders for pool in fleet.pools}
    return Lines([line_of(build) for build in fleet.builds], pools[variant.step, variant.queue])


def bisected(blocks: Counts, likelihood: Likelihood) -> list[int]:
    """Change points by cutting in two again and again, each time where it gains most; blocks as for `change_points`."""
    sums = np.concatenate([np.zeros((4, 1), dtype=np.int64), blocks.cumsum(axis=1)], axis=1)
    return _cuts(sums, 0, blocks.shape[1], likelihood)


def _cuts(sums: Counts, low: int, high: int, likelihood: Likelihood) -> list[int]:
    inner = sums[:, low + 1 : high]
    if not inner.shape[1]:
        return []
    before, after, whole = inner - sums[:, [low]], sums[:, [high]] - inner, sums[:, high] - sums[:, low]
    gain = likelihood.log(*before) + likelihood.log(*after) - likelihood.log(*whole)
    best = int(gain.argmax())
    if gain[best] + SPLIT <= 0:
        return []
    at = low + 1 + best
    return [*_cuts(sums, low, at, likelihood), at, *_cuts(sums, at, high, likelihood)]
