"""Which test leaves GPU memory behind, from nothing but the order of tests.

One polluter c is assumed, which sometimes leaves memory that every sensitive test after it in the same process then
misses; sensitive are the tests that ever failed so. For a candidate c, an incident in which c ran before all its
victims has the likelihood 0.97^v 0.03^s, v its victims and s the sensitive tests that passed after c all the same; any
incident may also have had another cause, with probability e = 0.02, and then says nothing of c (1/T, T candidates).
How often c leaks, q, is not known: with q ~ Beta(1/2, 5), k incidents and n_c quiet processes with c in them have the
probability B(1/2 + k, 5 + n_c) / B(1/2, 5), q integrated out. So

    ln post(c) = const + sum ln[(1 - e) [c first] 0.97^v 0.03^s + e/T] + ln B(1/2 + k, 5 + n_c).

Against the candidates stands that the memory came from outside, at any of the T + 1 moments before, between and after
the tests alike: an incident of which g moments lie between the last sensitive pass and the first victim has the
likelihood g / (T + 1), and the hypothesis the weight of five candidates.

The model is optimistic: it knows one polluter that spares nobody. That is why a name takes 0.95 and three incidents,
and a set five (`LEAST_FOR_SUSPECTS`). Tests that always follow each other, as in a list that is only turned round,
cannot be told apart: of all orders one alone comes between them, and a name would hang on one job. So no test is named
that has a fixed neighbour.

How often the polluter was named in 400 simulated histories of 150 builds (45 tests, leaks in 6 % of jobs, the order
shuffled in half of them), by how many of the tests are sensitive: 44: 97 %, 15: 94 %, 9: 86 %, 3: 41 %; a wrong name in
none. Few sensitive tests bracket the polluter loosely, and each incident then rules out few of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from flake_report.model.memory import TestOrder

Floats: TypeAlias = NDArray[np.float64]

NAMED = 0.95
"""The probability at which a test is named, and that a set of suspects holds."""
LEAST_INCIDENTS = 3
"""A name takes as many incidents, whatever the probability."""
_SPARED, _STRUCK = np.log(0.03), np.log(0.97)
_OTHER_CAUSE = 0.02
_OUTSIDE = 5.0
_FIXED = 0.9


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates, likeliest first, with their probabilities, and what they rest on.

    The probabilities and `outside`, that none of them did it, add up to 1. `named`: whether the first may be named.
    `within` is how many of them make the 95 % set.
    """

    tests: tuple[str, ...]
    probabilities: tuple[float, ...]
    outside: float
    incidents: int
    named: bool
    within: int


def ranking(orders: Sequence[TestOrder]) -> Ranking:
    """All tests of these processes as candidates. The processes are of one place; without incidents nobody ranks."""
    names = sorted({test for order in orders for test in order.tests})
    index = {test: at for at, test in enumerate(names)}
    sensitive = frozenset(test for order in orders for test in order.victims)
    struck = [order for order in orders if order.victims]
    if not struck:
        return Ranking((), (), 0.0, 0, named=False, within=0)
    score = np.zeros(len(names))
    for order in struck:
        likelihood = _incident(order, index, sensitive)
        score += np.logaddexp(np.log1p(-_OTHER_CAUSE) + likelihood, np.log(_OTHER_CAUSE / len(names)))
    quiet = Counter(test for order in orders if not order.victims for test in order.tests)
    score += betaln(0.5 + len(struck), 5 + np.array([quiet[test] for test in names]))
    elsewhere = _outside(orders, sensitive)
    total = np.logaddexp(elsewhere, np.logaddexp.reduce(score))
    posterior = np.exp(score - total)
    by_rank = np.argsort(-posterior, kind="stable")
    likely = posterior[by_rank[0]] >= NAMED and len(struck) >= LEAST_INCIDENTS
    return Ranking(
        tests=tuple(names[at] for at in by_rank),
        probabilities=tuple(posterior[by_rank].tolist()),
        outside=float(np.exp(elsewhere - total)),
        incidents=len(struck),
        named=bool(likely) and not _fixed_neighbour(orders, names[by_rank[0]]),
        within=min(int(np.searchsorted(np.cumsum(posterior[by_rank]), NAMED)) + 1, len(names)),
    )


def _fixed_neighbour(orders: Sequence[TestOrder], test: str) -> bool:
    """Whether one other test stands next to it, the first counting as next to the last, nearly wherever either runs."""
    beside: Counter[str] = Counter()
    running: Counter[str] = Counter()
    for order in orders:
        running.update(order.tests)
        if test in order.tests:
            at, count = order.tests.index(test), len(order.tests)
            beside.update({order.tests[at - 1], order.tests[(at + 1) % count]} - {test})
    return any(near >= _FIXED * max(running[one], running[test]) for one, near in beside.items())


def _outside(orders: Sequence[TestOrder], sensitive: frozenset[str]) -> float:
    """The logarithm of what stands against all candidates together, on their scale."""
    struck = [order for order in orders if order.victims]
    likelihood = sum(np.log(_moments(order, sensitive) / (len(order.tests) + 1)) for order in struck)
    return float(np.log(_OUTSIDE) + likelihood + betaln(0.5 + len(struck), 5 + len(orders) - len(struck)))


def _incident(order: TestOrder, index: dict[str, int], sensitive: frozenset[str]) -> Floats:
    """For each candidate the logarithm of the incident's likelihood; minus infinity where it was not first."""
    likelihood = np.full(len(index), -np.inf)
    passes = sum(test in sensitive and test in order.passed and test not in order.victims for test in order.tests)
    for test in order.tests[: _first_victim(order)]:
        passes -= test in sensitive and test in order.passed
        likelihood[index[test]] = passes * _SPARED + len(order.victims) * _STRUCK
    return likelihood


def _first_victim(order: TestOrder) -> int:
    return next(at for at, test in enumerate(order.tests) if test in order.victims)


def _last_spared(order: TestOrder, sensitive: frozenset[str]) -> int:
    """Place of the last sensitive test that passed before the first victim; -1 where none did."""
    before = enumerate(order.tests[: _first_victim(order)])
    return max((at for at, test in before if test in sensitive and test in order.passed), default=-1)


def _moments(order: TestOrder, sensitive: frozenset[str]) -> int:
    return _first_victim(order) - _last_spared(order, sensitive)


def unseparated(orders: Sequence[TestOrder], suspects: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of suspects of which the first ran before the second in every process that ran both."""
    counted: Counter[tuple[str, str]] = Counter()
    for order in orders:
        at = {test: place for place, test in enumerate(order.tests)}
        present = sorted((test for test in suspects if test in at), key=at.__getitem__)
        counted.update(combinations(present, 2))
    return tuple(sorted(pair for pair in counted if (pair[1], pair[0]) not in counted))
