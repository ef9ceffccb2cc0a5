"""Many tests at once: which hypotheses can be told at all, and which of them are told apart from chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .intervals import Floats

LEVEL = 0.05
"""The share of false findings that is accepted; where nothing is true, the chance of any finding."""


def worth_testing(smallest: Floats, level: float = LEVEL) -> NDArray[np.bool_]:
    """Which hypotheses are worth a test, told from the smallest p-value that each could have had; one dimension.

    A hypothesis whose smallest attainable p-value is above level/K cannot be found among K, so it need not be counted
    among them: K is the smallest number for which no more than K hypotheses remain. Sound only if `smallest` rests on
    nothing but what the p-value is conditioned on. Sources: Tarone, Biometrics 46 (1990); for the false discovery rate
    Gilbert, Applied Statistics 54 (2005).
    """
    asked = np.arange(1, len(smallest) + 1)
    left = np.searchsorted(np.sort(smallest), level / asked, side="right")
    enough = np.flatnonzero(left <= asked)
    return smallest <= level / asked[enough[0]] if len(enough) else np.zeros(0, dtype=bool)


def found(p_values: Floats, smallest: Floats, level: float = LEVEL) -> NDArray[np.bool_]:
    """Which hypotheses fall, of those that are testable, by Benjamini and Hochberg's step-up rule; one dimension.

    Among m testable ones the k smallest p-values fall, k being the largest number with the k-th at most level·k/m. The
    expected share of false ones among them is then at most `level` for independent or positively dependent tests, and
    where all hypotheses are true so is the chance of any. Source: Benjamini and Hochberg, JRSS B 57 (1995);
    Benjamini and Yekutieli, Annals of Statistics 29 (2001).
    """
    worth = worth_testing(smallest, level)
    ordered = np.sort(p_values[worth])
    passed = np.flatnonzero(ordered <= level * np.arange(1, len(ordered) + 1) / max(len(ordered), 1))
    return worth & (p_values <= ordered[passed[-1]]) if len(passed) else np.zeros(len(p_values), dtype=bool)


def family_wise(p_values: Floats, smallest: Floats, level: float = LEVEL) -> Floats:
    """P-values corrected for having looked at all testable hypotheses; 1 for those that are not; one dimension.

    Holm's: of m testable ones the k-th smallest is multiplied by m - k + 1, and is at least the one before. The chance
    that any true hypothesis comes to `level` or less is at most `level`, whatever their dependence. Source: Holm,
    Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = np.ones(len(p_values))
    worth = np.flatnonzero(worth_testing(smallest, level))
    order = worth[np.argsort(p_values[worth], kind="stable")]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
