"""How much the rates of a fleet's tests move from week to week beyond chance.

The model. In each week a variant with the long-run rate p has a rate of its own, drawn from a gamma distribution with
shape p·M and scale 1/M. Its mean is p and its variance p/M, so with M = 1/ICC - 1 it is, to first order in p, the
Beta(p·M, (1 - p)·M) of the beta-binomial model, whose intraclass correlation is 1/(M + 1) = ICC. Failures in n runs of
such a week are negative binomial with shape a = p·M and scale t = n/M,

    P(x) = Γ(x + a) / (Γ(a) x!) · (t / (1 + t))^x · (1 + t)^-a,

with mean n·p and variance n·p·(1 + n/M). The beta-binomial's variance is n·p·(1 - p)·(1 + (n - 1)/(M + 1)), which is
never larger: the gamma's side errs towards caution, the more the larger p. Source for the negative binomial as a gamma
mixture: Greenwood and Yule, Journal of the Royal Statistical Society 83 (1920).

One variant fails too seldom to show how its weeks differ; a fleet does. Neither all its rates nor all its ICCs are
alike, so both have distributions, without a shape, over fixed grids; independent of each other, since otherwise tests
that never failed could be given any ICC. The likeliest ones are found by expectation-maximisation (Laird, JASA 73
(1978)), from uniform ones in a fixed number of steps: where there is little to learn from they stay near uniform, which
means weeks that differ wildly, and so tests that find nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .intervals import Floats

Counts: TypeAlias = NDArray[np.int64]

RATES: Floats = np.geomspace(1e-5, 0.9, 40)
"""The long-run rates that tests may have; the lowest stands for tests that never fail."""

ICCS: Floats = np.array([1e-7, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1])
"""The intraclass correlations that their weeks may have; the first stands for weeks that do not differ."""

CONCENTRATIONS: Floats = np.tile(1 / ICCS - 1, len(RATES))
"""M of the model for each pair of a rate and an ICC: all rates, and within a rate all ICCs."""

SHAPES: Floats = np.repeat(RATES, len(ICCS)) * CONCENTRATIONS
"""Shape a of the model for each pair."""

_STEPS = 400  # with fewer, thousands of tests over a month still leave some weight on weeks that differ wildly
_ENOUGH = 2000  # distinct variants with failures; more of them are thinned evenly, which changes next to nothing


@dataclass(frozen=True, slots=True)
class Spread:
    """How a fleet's tests differ: `rates` are the shares of `RATES`, `iccs` those of `ICCS`; each sums to 1."""

    rates: Floats
    iccs: Floats

    @property
    def icc(self) -> float:
        """The mean intraclass correlation of the fleet."""
        return float(self.iccs @ ICCS)

    @property
    def weights(self) -> Floats:
        """The shares of the pairs, in the order of `SHAPES`."""
        return np.outer(self.rates, self.iccs).ravel()


def spread(failures: Counts, runs: Counts) -> Spread:
    """The likeliest spread of a fleet. Shapes: variants by weeks, both; 0 <= failures <= runs.

    Weeks without runs say nothing. Assumes that variants are independent, and weeks too. No variants: nothing is known,
    and both are uniform.
    """
    rates, iccs = np.full(len(RATES), 1 / len(RATES)), np.full(len(ICCS), 1 / len(ICCS))
    if not len(runs):
        return Spread(rates, iccs)
    seen = _Seen.of(failures, runs)
    log = seen.log_likelihood()
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    for _ in range(_STEPS):
        weights = np.outer(rates, iccs).ravel()
        shares = (weights * (likelihood.T @ (seen.variants / (likelihood @ weights)))).reshape(len(RATES), len(ICCS))
        rates, iccs = shares.sum(axis=1) / shares.sum(), shares.sum(axis=0) / shares.sum()
    return Spread(rates, iccs)


def ways(failures: Floats, shapes: Floats) -> Floats:
    """For each x by each a: ln Γ(x + a) / (Γ(a) x!), the part of ln P(x) that no number of runs changes."""
    x = failures[:, None]
    log: Floats = gammaln(x + shapes) - gammaln(shapes) - gammaln(x + 1)
    return log


@dataclass(frozen=True, slots=True)
class _Seen:
    """The fleet's counts, equal variants together: `variants` says how many each row stands for.

    Variants that never failed are most of a fleet, and only how long they ran matters: they are told by their total
    alone, rounded to a sixth, as if it were spread evenly over their weeks.
    """

    failures: Counts
    runs: Counts
    variants: Floats

    @classmethod
    def of(cls, failures: Counts, runs: Counts) -> _Seen:
        clean = failures.sum(axis=1) == 0
        ran = np.maximum((runs[clean] > 0).sum(axis=1), 1)
        a_week = np.round(2.0 ** (np.round(np.log2(np.maximum(runs[clean].sum(axis=1) / ran, 1)) * 4) / 4))
        even = np.where(np.arange(runs.shape[1]) < ran[:, None], a_week[:, None], 0).astype(np.int64)
        rows = np.concatenate(
            [np.stack([failures[~clean], runs[~clean]], axis=1), np.stack([np.zeros_like(even), even], axis=1)]
        )
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        variants, failed = counts.astype(np.float64), np.flatnonzero(distinct[:, 0].any(axis=1))
        kept = failed[:: max(1, -(-len(failed) // _ENOUGH))]
        variants[kept] *= variants[failed].sum() / max(variants[kept].sum(), 1)
        chosen = np.concatenate([np.setdiff1d(np.arange(len(distinct)), failed), kept])
        return cls(distinct[chosen, 0], distinct[chosen, 1], variants[chosen])

    def log_likelihood(self) -> Floats:
        """Rows by pairs of a rate and an ICC: the log-probability of each row's weeks.

        The terms of ln P(x) are added up over weeks apart: the first is looked up by count, the second is taken an ICC
        at a time, and the third is p times a sum over weeks.
        """
        counts, at = np.unique(self.failures, return_inverse=True)
        known = ways(counts.astype(np.float64), SHAPES)
        log = np.zeros((len(self.runs), len(SHAPES)))
        for column in at.reshape(self.failures.shape).T:
            log += known[column]
        for nth, m in enumerate((1 / ICCS - 1).tolist()):
            scales = self.runs / m
            odds = np.log1p(1 / np.where(self.failures > 0, scales, 1.0))
            log[:, nth :: len(ICCS)] -= (self.failures * odds).sum(axis=1)[:, None]
            log[:, nth :: len(ICCS)] -= np.outer(np.log1p(scales).sum(axis=1), RATES * m)
        return log
