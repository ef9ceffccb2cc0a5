"""Are all machines alike? An exact test for the one that is not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from .intervals import Floats
from .multiplicity import family_wise
from .overdispersion import Counts


@dataclass(frozen=True, slots=True)
class Homogeneity:
    """A value a machine: `p_values` as they come, `smallest` those it could have had, `corrected` for all looks."""

    p_values: Floats
    smallest: Floats
    corrected: Floats


def homogeneity(machines: Counts, strata: Counts, trouble: NDArray[np.bool_]) -> Homogeneity:
    """Whether some machine has more trouble than chance gives it. Shapes: one dimension, a value a job, all three.

    `machines` and `strata` are numbers from 0. A stratum holds jobs that any of its machines might have got: one step
    and queue in one week. If all machines are alike, each way to deal a stratum's N jobs to its machines is as likely,
    so of its K jobs with trouble a machine that got n of the jobs has a hypergeometric number, and over strata their
    sum: an exact distribution, the convolution of those (the exact conditional test of a common odds ratio of 1; Birch,
    JRSS B 26 (1964)). The p-value is the chance of as many as there are, or more. It is exact whatever the strata's own
    rates are, and assumes that jobs get their machine without regard to what will happen in them, each apart.

    For having looked at all machines it is corrected by Holm's rule among those that could have shown anything.
    """
    count = int(machines.max()) + 1 if len(machines) else 0
    p_values, smallest = np.ones(count), np.ones(count)
    several = int(strata.max(initial=0)) + 1
    cells, at = np.unique(machines.astype(np.int64) * several + strata, return_inverse=True)
    of_machine, of_stratum = np.divmod(cells, several)
    jobs, bad = np.bincount(at), np.bincount(at, weights=trouble).astype(np.int64)
    all_jobs = np.bincount(strata)[of_stratum]
    all_bad = np.bincount(strata, weights=trouble).astype(np.int64)[of_stratum]
    telling = (all_bad > 0) & (all_bad < all_jobs) & (jobs < all_jobs)
    draws = np.stack([of_machine, all_jobs, all_bad, jobs, bad], axis=1)[telling]
    for mine in np.split(draws, np.flatnonzero(np.diff(draws[:, 0])) + 1) if len(draws) else ():
        chances = _sum_of(mine[:, 1:4])
        tails = np.minimum(chances[::-1].cumsum()[::-1], 1)
        machine = mine[0, 0]
        p_values[machine], smallest[machine] = tails[mine[:, 4].sum()], tails[-1]
    return Homogeneity(p_values, smallest, family_wise(p_values, smallest))


def _sum_of(draws: Counts) -> Floats:
    """The chances of 0, 1, … jobs with trouble in all, up to the most that there can be."""
    chances = np.ones(1)
    for stratum in draws.tolist():
        chances = np.convolve(chances, _hypergeometric(*stratum))
    return chances


@lru_cache(maxsize=4096)
def _hypergeometric(jobs: int, bad: int, drawn: int) -> Floats:
    """C(bad, k) C(jobs - bad, drawn - k) / C(jobs, drawn) for k = 0, 1, …; 0 where there are not so many sound jobs.

    Not by `scipy.stats`: to import that takes longer than a question on one test.
    """
    found, sound = np.arange(min(bad, drawn) + 1), jobs - bad
    chances = np.zeros(len(found))
    can = drawn - found <= sound
    ways = _log_ways(bad, found[can]) + _log_ways(sound, drawn - found[can])
    chances[can] = np.exp(ways - _log_ways(jobs, drawn))
    return chances


def _log_ways(among: int, chosen: NDArray[np.int64] | int) -> Floats:
    """The logarithm of the number of ways to choose so many: of C(n, k) = 1 / ((n + 1) B(k + 1, n - k + 1))."""
    ways: Floats = -betaln(np.add(chosen, 1), np.subtract(among, chosen) + 1) - np.log(among + 1)
    return ways
