"""Intervals for a probability, from counts: how sure a rate is.

Shapes: `hits` and `runs` are integers or arrays that broadcast together, 0 <= hits <= runs; answers have their shape.
Assumption: the runs are independent with one probability. Runs that share a machine or a job are not, and their
roll-ups need a wider interval.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincc, betaincinv

Floats: TypeAlias = NDArray[np.float64]

LEVEL = 0.95
"""Every interval that is shown holds the true rate with this probability, half of the rest on each side."""

_TAIL = (1 - LEVEL) / 2


def jeffreys(hits: ArrayLike, runs: ArrayLike) -> tuple[Floats, Floats]:
    """Lower and upper end of the equal-tailed Jeffreys interval.

    Jeffreys' prior for a proportion is Beta(1/2, 1/2), the one prior that does not change its meaning when the
    proportion is re-expressed. x hits in n runs multiply it by p^x (1-p)^(n-x), so the posterior is
    Beta(x + 1/2, n - x + 1/2), and the ends are its 2.5 % and 97.5 % quantiles. Without any hit the lower end is 0,
    and without any miss the upper end is 1: otherwise the interval could never hold a rate of exactly 0 or 1.
    Source: Brown, Cai, DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science 16 (2001),
    section 3.1.2 for the interval, 4.1.3 for the two ends.

    On average over rates it covers 95 %; at single rates and few runs it swings between about 88 and 98 %.
    """
    x, n = _counts(hits, runs)
    low = np.where(x == 0, 0.0, betaincinv(x + 0.5, n - x + 0.5, _TAIL))
    high = np.where(x == n, 1.0, betaincinv(x + 0.5, n - x + 0.5, 1 - _TAIL))
    return low, high


def clopper_pearson_low(hits: ArrayLike, runs: ArrayLike) -> Floats:
    """Lower end of the exact interval: the rate at which x or more hits in n runs happen with probability 2.5 %.

    P(X >= x) for a rate p is the regularised incomplete beta function I_p(x, n - x + 1), so the end is the 2.5 %
    quantile of Beta(x, n - x + 1); 0 where x is 0. It lies above the true rate at most 2.5 times in 100, whatever
    the rate and the number of runs: that is why lists are ranked by it, and a test seen twice with one failure does
    not lead them. Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    x, n = _counts(hits, runs)
    shape = np.maximum(x, 1)  # a quantile exists for x >= 1 alone
    return np.where(x == 0, 0.0, betaincinv(shape, n - x + 1, _TAIL))


def over(budget: float, hits: ArrayLike, runs: ArrayLike) -> Floats:
    """The probability that the rate is above `budget`, 0 <= budget <= 1, by the same posterior as the interval's.

    It is 1 - I_budget(x + 1/2, n - x + 1/2), I being the regularised incomplete beta function. Without any run it is
    what the prior says.
    """
    x, n = _counts(hits, runs)
    above: Floats = betaincc(x + 0.5, n - x + 0.5, budget)
    return above


def _counts(hits: ArrayLike, runs: ArrayLike) -> tuple[Floats, Floats]:
    x, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(runs, dtype=np.float64))
    if np.any(x < 0) or np.any(x > n):
        raise ValueError("hits must lie between 0 and runs")
    return x, n
