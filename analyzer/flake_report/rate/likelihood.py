"""How well one rate, that nobody knows, explains what a stretch of runs did: the marginal likelihood of two streams.

A stretch of n runs of which x failed has, for a failure rate p, the likelihood p^x (1 - p)^(n - x). Where p is only
known to come from Beta(a, b), it is averaged over that prior:

    L(x, n) = ∫ p^x (1-p)^(n-x) · p^(a-1) (1-p)^(b-1) / B(a, b) dp = B(x + a, n - x + b) / B(a, b)

    ln L = lnΓ(x+a) + lnΓ(n-x+b) - lnΓ(n+a+b) + lnΓ(a+b) - lnΓ(a) - lnΓ(b)

Two streams are multiplied: runs that failed on their first attempt among all runs, with the prior Beta(0.3, 0.5), and
runs that failed on every attempt among those that were tried again, with Beta(0.5, 0.5). A regression fails again,
and most flakes do not: the second stream tells them apart where there are retries. Both priors hold most of their mass
near 0 and 1, because most tests either hardly ever fail or always do. Source: the change point analysis of LUCI
(luci-go, analysis/internal/changepoints/bayesian).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

FIRST = (0.3, 0.5)
"""Prior of the first-attempt failure rate: Beta(a, b)."""

AGAIN = (0.5, 0.5)
"""Prior of the rate at which runs that are tried again fail again."""


@dataclass(frozen=True, slots=True)
class Stream:
    """ln L of one stream for all counts up to a greatest n, by looking up lnΓ: every count occurs many times."""

    hit: Floats
    miss: Floats
    total: Floats

    @classmethod
    def up_to(cls, most: int, prior: tuple[float, float]) -> Stream:
        """The tables for n from 0 to `most`."""
        a, b = prior
        counts = np.arange(most + 1, dtype=np.float64)
        constant = gammaln(a + b) - gammaln(a) - gammaln(b)
        return cls(gammaln(counts + a), gammaln(counts + b), gammaln(counts + a + b) - constant)

    def log(self, hits: Counts, runs: Counts) -> Floats:
        """The logarithm of L(hits, runs), of one shape, 0 <= hits <= runs <= the greatest n. No runs have L = 1."""
        log: Floats = self.hit[hits] + self.miss[runs - hits] - self.total[runs]
        return log


@dataclass(frozen=True, slots=True)
class Likelihood:
    """ln L of both streams together."""

    first: Stream
    again: Stream

    @classmethod
    def up_to(cls, runs: int) -> Likelihood:
        """For stretches of up to so many runs."""
        return cls(Stream.up_to(runs, FIRST), Stream.up_to(runs, AGAIN))

    def log(self, first_failed: Counts, runs: Counts, failed_again: Counts, retried: Counts) -> Floats:
        """The logarithm of L for stretches with these counts, all of one shape."""
        return self.first.log(first_failed, runs) + self.again.log(failed_again, retried)
