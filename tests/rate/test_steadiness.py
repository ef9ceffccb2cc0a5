"""One rate or bouts: against every deal of the failures, and against seeded draws."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from flake_report.rate.steadiness import moments, statistic, unsteady

TABLES = {
    "two equal batches": ([4, 4], 3),
    "three batches of other sizes": ([2, 5, 3], 4),
    "single runs": ([1, 1, 1, 1, 6], 2),
    "four batches, one failure": ([3, 3, 2, 4], 1),
}


def deals(runs: list[int], bad: int):
    """Every way to have so many failures, with its probability."""
    for failed in product(*(range(size + 1) for size in runs)):
        if sum(failed) == bad:
            ways = np.prod([comb(size, hit) for size, hit in zip(runs, failed, strict=True)], dtype=float)
            yield np.array(failed), float(ways) / comb(sum(runs), bad)


@pytest.mark.parametrize(("runs", "bad"), TABLES.values(), ids=TABLES.keys())
def test_mean_and_variance_are_those_over_every_deal(runs, bad) -> None:
    sizes = np.array(runs)
    told = [(statistic(failed, sizes), chance) for failed, chance in deals(runs, bad)]
    mean = sum(value * chance for value, chance in told)
    variance = sum((value - mean) ** 2 * chance for value, chance in told)
    assert sum(chance for _, chance in told) == pytest.approx(1)
    assert moments(sizes, bad) == pytest.approx((mean, variance))


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3])
def test_a_steady_test_is_called_unsteady_about_as_often_as_the_level_says(rate) -> None:
    random = np.random.default_rng(4)
    runs = np.full(20, 50)
    p_values = np.array([unsteady(random.binomial(runs, rate), runs) for _ in range(2000)])
    assert np.mean(p_values < 0.05) < 0.07
    assert np.mean(p_values < 0.001) < 0.005


def test_a_rate_that_differs_from_week_to_week_is_seen() -> None:
    random = np.random.default_rng(5)
    runs = np.full(20, 50)
    p_values = [unsteady(random.binomial(runs, random.beta(0.5, 4.5, 20)), runs) for _ in range(200)]
    assert np.mean(np.array(p_values) < 0.001) > 0.95


def test_all_failures_in_one_of_many_batches_are_a_bout() -> None:
    assert unsteady(np.array([10, *[0] * 19]), np.full(20, 50)) < 1e-6


NOTHING = {
    "one batch": ([5], [50]),
    "no failure": ([0, 0], [50, 50]),
    "nothing but failures": ([50, 50], [50, 50]),
    "three runs": ([1, 0], [1, 2]),
    "one run a batch": ([1, 0, 1, 0, 1], [1, 1, 1, 1, 1]),
}


@pytest.mark.parametrize(("failed", "runs"), NOTHING.values(), ids=NOTHING.keys())
def test_nothing_is_told_by(failed, runs) -> None:
    assert unsteady(np.array(failed), np.array(runs)) > 0.05
