"""One week against the weeks before it: the exact test, made to allow for weeks that differ by themselves.

Without overdispersion the failures x of this week (n runs), given the total T of this week and the N runs before, are
binomial with T tries and probability n/(n + N): the exact conditional test of two Poisson rates (Przyborowski and
Wilenski, Biometrika 31 (1940)), which hardly differs from Fisher's where failures are rare. With the weeks of
`overdispersion` this week is negative binomial with shape a = p·M and scale n/M, and the weeks before are together
close to negative binomial with the mean and the variance of their sum: shape a·B, scale N/(B·M), where B = (Σn)²/Σn² is
the number of equally long weeks that they are worth. Given T,

    P(x | T) = Σ w(p, ICC) NB(x; a, n/M) NB(T - x; a·B, N/(B·M))  /  the same sum over all x from 0 to T,

with the fleet's shares w: T itself says which tests of the fleet it may be, and a burst is judged as what it would be
in such a test. For ICC to 0 this is the binomial above, whatever w. As only T, n and N are conditioned on, the smallest
p-value that a variant could have had is known before x is looked at, as Tarone's rule asks. Averaged over the fleet, a
p-value of at most u has at most the probability u; a test whose weeks differ more than the fleet's tests of so many
failures do is judged too boldly, its calm neighbours too mildly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .intervals import Floats
from .overdispersion import CONCENTRATIONS, SHAPES, Counts, Spread, ways

_NO_WEIGHT = 1e-13  # of a pair: far below any p-value that decides


@dataclass(frozen=True, slots=True)
class WeekTest:
    """One-sided p-values a variant, and the smallest that each could have had."""

    worse: Floats
    better: Floats
    worse_smallest: Floats
    better_smallest: Floats


def week_test(failures: Counts, runs: Counts, before_failures: Counts, before_runs: Counts, fleet: Spread) -> WeekTest:
    """Whether this week differs. Shapes: variants for this week's counts, variants by weeks for those before.

    Assumes runs that are independent within a week. A variant without failures, or without runs on one of the sides,
    has p-values of 1.
    """
    before = before_runs.sum(axis=1)
    margins = Margins(
        total=failures + before_failures.sum(axis=1),
        runs=runs,
        before=before,
        worth=np.floor(10 * before**2 / np.maximum((before_runs**2).sum(axis=1), 1)) / 10,
    )
    told = np.ones((4, len(failures)))
    for mine, chances in null_distributions(margins, fleet):
        at_most, at_least = np.minimum(chances.cumsum(), 1), np.minimum(chances[::-1].cumsum()[::-1], 1)
        first = mine[0]
        least, most = max(0, margins.total[first] - before[first]), min(margins.total[first], runs[first])
        told[0, mine], told[1, mine] = at_least[failures[mine]], at_most[failures[mine]]
        told[2, mine], told[3, mine] = at_least[most], at_most[least]
    return WeekTest(told[0], told[1], told[2], told[3])


@dataclass(frozen=True, slots=True)
class Margins:
    """What is conditioned on, a value a variant: failures in `total`, this week's `runs`, the runs `before` it.

    `worth`: of how many equally long weeks the runs before are, in tenths, rounded down.
    """

    total: Counts
    runs: Counts
    before: Counts
    worth: Floats


def null_distributions(margins: Margins, fleet: Spread) -> Iterator[tuple[Counts, Floats]]:
    """Variants of equal margins, and their chances of 0 to `total` failures this week if nothing has changed.

    The chances sum to 1. Variants without failures, or without runs on one of the sides, do not come.
    """
    kept = fleet.weights > _NO_WEIGHT
    shapes, m, log_weights = SHAPES[kept], CONCENTRATIONS[kept], np.log(fleet.weights[kept])
    told = np.flatnonzero((margins.total > 0) & (margins.runs > 0) & (margins.before > 0))
    for worth, ours in _equal(margins.worth[told]):
        group = told[ours]
        x = np.arange(margins.total[group].max() + 1, dtype=np.float64)
        now, then = ways(x, shapes), ways(x, shapes * worth)
        rows = np.stack([margins.total[group], margins.runs[group], margins.before[group]], axis=1)
        for (total, runs, before), same in _equal(rows):
            scale, scale_then = runs / m, before / (worth * m)
            log = now[: total + 1] + then[total::-1]
            log -= np.outer(x[: total + 1], np.log1p(1 / scale)) + np.outer(x[total::-1], np.log1p(1 / scale_then))
            log += log_weights - shapes * (np.log1p(scale) + worth * np.log1p(scale_then))
            chances = np.exp(log - log.max()).sum(axis=1)
            yield group[same], chances / chances.sum()


def _equal(rows: Floats | Counts) -> Iterator[tuple[Floats | Counts, Counts]]:
    """Each distinct row with the places that hold it."""
    if not len(rows):
        return
    distinct, at, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    yield from zip(distinct, np.split(np.argsort(at.reshape(-1), kind="stable"), counts.cumsum()[:-1]), strict=True)
