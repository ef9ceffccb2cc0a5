"""Whether one rate explains all the weeks of a test, or it fails in bouts.

Of n_i runs in batch i, x_i failed; N = Σn, X = Σx. Pearson's statistic

    D = Σ (x_i - n_i X/N)² / (n_i · X/N · (1 - X/N))

is compared with what it would be if the X failures were dealt to the N runs at random, which needs no knowledge of the
rate. Its exact mean and variance over all those deals are known (Dawson, The American Statistician 8 (1954)):

    mean = (k - 1) N / (N - 1)
    variance = 2N/(N - 3) · (v1 - w1)(v2 - w2) + N²/(N - 1) · w1 w2

with v1 = (k-1)(N-k)/(N-1), w1 = (ΣN/n_i - k²)/(N-2), and v2, w2 the same for the two outcomes in place of the k
batches. The p-value is the tail of the gamma distribution with this mean and variance (Nass, Biometrika 46 (1959)): it
serves where expected counts are far too small for the chi-square table, as they are for rare failures.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from .intervals import Floats
from .likelihood import Counts


def unsteady(failed: Counts, runs: Counts) -> float:
    """The p-value of one rate behind all batches; 1 where nothing can tell. Shapes: (batches,); no batch is empty.

    Small where batches differ by more than chance: then an interval that takes runs for independent is too narrow for
    the weeks to come.
    """
    total, bad, batches = int(runs.sum()), int(failed.sum()), len(runs)
    if batches < 2 or not 0 < bad < total or total < 4:
        return 1.0
    mean, variance = moments(runs, bad)
    if variance <= 0:
        return 1.0
    scale = variance / mean
    return float(gammaincc(mean / scale, statistic(failed, runs) / scale))


def statistic(failed: Counts, runs: Counts) -> float:
    """Pearson's D; 0 < failed < runs over all batches together."""
    share = failed.sum() / runs.sum()
    return float(((failed - runs * share) ** 2 / (runs * share * (1 - share))).sum())


def moments(runs: Counts, bad: int) -> tuple[float, float]:
    """Mean and variance of D over all deals of `bad` failures to these batches of at least 4 runs together."""
    n, k = float(runs.sum()), len(runs)
    v1, w1 = _margin(n, runs.astype(np.float64))
    v2, w2 = _margin(n, np.array([bad, n - bad]))
    variance = 2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n**2 / (n - 1) * w1 * w2
    return (k - 1) * n / (n - 1), variance


def _margin(n: float, sizes: Floats) -> tuple[float, float]:
    k = len(sizes)
    return (k - 1) * (n - k) / (n - 1), float((n / sizes).sum() - k**2) / (n - 2)
