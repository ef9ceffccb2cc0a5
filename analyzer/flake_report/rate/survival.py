"""How likely less than so much is free, from values that are known and values that were only enough.

A refused start gives the free memory exactly; one that was let in says no more than "at least what it asked for":
right-censored, as people who leave a study alive. Kaplan and Meier (J. Am. Stat. Assoc. 53, 1958): let the known values
be f_1 < f_2 < …, d_i of each, and r_i those of which it is known that they were not below f_i (known values >= f_i,
and bounds > f_i). Then P(free >= x) is estimated by the product of (1 − d_i / r_i) over all f_i < x. Without bounds
that is the plain share; failed / all, with the bounds counted as passes, would be too high: a failure tells of every
setting, a pass only of lower ones.

The band is Jeffreys' on Peto's effective sample, n* = r(x) / S(x), r(x) those known to be not below x (Dorey and Korn,
Statistics in Medicine 6, 1987): exact for plain shares, and alive where Greenwood's is not. Greenwood's variance is 0
before the first failure and does not grow where bounds run out, and with few failures its band, on the log-log scale
too, holds the truth far less often than it says; here failures are always few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import betaincinv

from .intervals import LEVEL, Floats, jeffreys


@dataclass(frozen=True, slots=True)
class Below:
    """P(free < x) with its 95 % band; `at_most` is the end of the interval that is open below.

    `effective` is n*. `known` is False where no value is known to be as high as x: the estimate is then a lower bound.
    """

    rate: float
    low: float
    high: float
    at_most: float
    effective: float
    known: bool


class Free:
    """The distribution of free memory, in any one unit."""

    def __init__(self, exact: Sequence[float], at_least: Sequence[float]) -> None:
        """`exact` are known values, `at_least` bounds that the value was not below."""
        self._exact = np.sort(np.asarray(exact, dtype=np.float64))
        self._bounds = np.sort(np.asarray(at_least, dtype=np.float64))
        self._values, counts = np.unique(self._exact, return_counts=True)
        risk = self._from(self._exact, self._values, "left") + self._from(self._bounds, self._values, "right")
        self._after = np.cumprod(1 - counts / np.where(risk > 0, risk, 1))

    @staticmethod
    def _from(ordered: Floats, at: Floats, side: str) -> Floats:
        """How many lie at or above (`left`), or above (`right`), each of the values."""
        below = np.searchsorted(ordered, at, side="left" if side == "left" else "right")
        return (len(ordered) - below).astype(np.float64)

    def below(self, x: float) -> Below:
        """How likely less than `x` is free."""
        events = int(np.searchsorted(self._values, x, side="left"))
        survives = float(self._after[events - 1]) if events else 1.0
        here = np.asarray([x], dtype=np.float64)
        above = float(self._from(self._exact, here, "left")[0] + self._from(self._bounds, here, "left")[0])
        below = float(np.searchsorted(self._exact, x, side="left"))
        effective = above / survives if survives > 0 else below
        hits = effective * (1 - survives)
        low, high = jeffreys(hits, effective)
        return Below(
            rate=1 - survives,
            low=float(low) if effective else 0.0,
            high=float(high),
            at_most=at_most(hits, effective),
            effective=effective,
            known=above > 0 or survives == 0,
        )


def at_most(hits: float, runs: float) -> float:
    """The rate that lies above the true one with 95 % probability: the 95 % quantile of Jeffreys' posterior."""
    return 1.0 if hits >= runs else float(betaincinv(hits + 0.5, runs - hits + 0.5, LEVEL))


@cache
def passes_for(budget: float) -> int:
    """The fewest starts without a refusal after which the risk is at most `budget` with 95 % probability."""
    enough = 1
    while at_most(0, enough) > budget:
        enough *= 2
    few = enough // 2
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if at_most(0, middle) <= budget else (middle, enough)
    return enough
