"""Intervals against what can be worked out without them: closed forms, symmetry, exact sums, and simulation."""

from __future__ import annotations

from math import asin, comb, pi, sin, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from flake_report.rate.intervals import clopper_pearson_low, jeffreys

COUNTS = st.integers(1, 400).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))
INNER = st.integers(2, 400).flatmap(lambda runs: st.tuples(st.integers(1, runs - 1), st.just(runs)))


def at_least(hits: int, runs: int, rate: float) -> float:
    """The probability of this many hits or more, summed term by term."""
    return sum(comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(hits, runs + 1))


@given(COUNTS)
def test_the_interval_holds_the_observed_rate_and_lies_in_0_to_1(counts) -> None:
    hits, runs = counts
    low, high = jeffreys(hits, runs)
    assert 0 <= low <= hits / runs <= high <= 1
    assert 0 <= clopper_pearson_low(hits, runs) <= hits / runs


@given(COUNTS)
def test_failures_and_passes_are_mirror_images(counts) -> None:
    hits, runs = counts
    low, high = jeffreys(hits, runs)
    mirrored_low, mirrored_high = jeffreys(runs - hits, runs)
    assert low == pytest.approx(1 - mirrored_high, abs=1e-9)
    assert high == pytest.approx(1 - mirrored_low, abs=1e-9)


@given(COUNTS)
def test_one_more_failure_moves_both_ends_up(counts) -> None:
    hits, runs = counts
    low, high = jeffreys([hits, hits + 1], runs + 1)
    assert low[0] < low[1]
    assert high[0] <= high[1]
    assert clopper_pearson_low(hits, runs + 1) < clopper_pearson_low(hits + 1, runs + 1)


@given(COUNTS)
def test_one_more_pass_moves_both_ends_down(counts) -> None:
    hits, runs = counts
    low, high = jeffreys(hits, [runs, runs + 1])
    assert low[1] <= low[0]
    assert high[1] < high[0] or hits == runs
    assert clopper_pearson_low(hits, runs + 1) <= clopper_pearson_low(hits, runs)


@given(INNER)
def test_ten_times_the_runs_at_the_same_rate_narrow_the_interval(counts) -> None:
    hits, runs = counts
    low, high = jeffreys([hits, 10 * hits], [runs, 10 * runs])
    assert high[1] - low[1] < high[0] - low[0]


@given(INNER)
def test_outside_each_end_of_the_jeffreys_interval_lie_2_and_a_half_percent_of_the_posterior(counts) -> None:
    hits, runs = counts
    low, high = jeffreys(hits, runs)
    posterior = stats.beta(hits + 0.5, runs - hits + 0.5)
    assert posterior.cdf(low) == pytest.approx(0.025, rel=1e-6)
    assert posterior.sf(high) == pytest.approx(0.025, rel=1e-6)


def test_without_a_hit_the_interval_begins_at_0_and_without_a_miss_it_ends_at_1() -> None:
    low, high = jeffreys([0, 50], [50, 50])
    assert low[0] == 0
    assert high[1] == 1


def test_no_runs_leave_the_arcsine_distribution_and_pinned_ends() -> None:
    assert [float(end) for end in jeffreys(0, 0)] == [0.0, 1.0]


def test_the_quantiles_are_those_of_the_arcsine_distribution_where_a_closed_form_exists() -> None:
    """Beta(3/2, 1/2) has the distribution function (2/pi) (asin sqrt p - sqrt(p (1 - p)))."""
    low, _ = jeffreys(1, 1)
    assert 2 / pi * (asin(sqrt(low)) - sqrt(low * (1 - low))) == pytest.approx(0.025, rel=1e-9)
    assert 0 < low < sin(pi / 4) ** 2


def test_one_hit_in_n_has_the_exact_lower_bound_in_closed_form() -> None:
    """P(X >= 1) = 1 - (1 - p)^n = 0.025, so p = 1 - 0.975^(1/n)."""
    runs = np.array([1, 2, 50, 3288])
    assert clopper_pearson_low(1, runs) == pytest.approx(1 - 0.975 ** (1 / runs), rel=1e-9)


def test_hits_alone_have_the_exact_lower_bound_in_closed_form() -> None:
    """P(X >= n) = p^n = 0.025, so p = 0.025^(1/n)."""
    runs = np.array([1, 2, 50])
    assert clopper_pearson_low(runs, runs) == pytest.approx(0.025 ** (1 / runs), rel=1e-9)


@given(st.integers(1, 60).flatmap(lambda runs: st.tuples(st.integers(1, runs), st.just(runs))))
def test_at_the_exact_lower_bound_so_many_hits_have_2_and_a_half_percent(counts) -> None:
    hits, runs = counts
    assert at_least(hits, runs, float(clopper_pearson_low(hits, runs))) == pytest.approx(0.025, rel=1e-6)


def test_the_exact_lower_bound_agrees_with_scipy() -> None:
    expected = stats.binomtest(8, 3288).proportion_ci(0.95, method="exact").low
    assert clopper_pearson_low(8, 3288) == pytest.approx(expected, rel=1e-9)


def test_arrays_keep_their_shape() -> None:
    low, high = jeffreys(np.zeros((2, 3), dtype=int), np.full((2, 3), 9))
    assert low.shape == high.shape == clopper_pearson_low(np.ones((2, 3)), 9).shape == (2, 3)


@pytest.mark.parametrize("counts", [(-1, 3), (4, 3)], ids=["fewer than no hits", "more hits than runs"])
def test_impossible_counts_are_a_bug(counts) -> None:
    with pytest.raises(ValueError, match="between 0 and runs"):
        jeffreys(*counts)


RUNS = [50, 200, 1000]


@pytest.mark.parametrize("runs", RUNS)
def test_averaged_over_rates_the_jeffreys_interval_covers_93_to_97_percent(runs) -> None:
    random = np.random.default_rng(20261130)
    rates = random.uniform(0.003, 0.3, 40_000)
    low, high = jeffreys(random.binomial(runs, rates), runs)
    assert 0.93 < np.mean((low <= rates) & (rates <= high)) < 0.97


POINTS = [(0.005, 1000, 0.928), (0.02, 200, 0.95), (0.1, 100, 0.95), (0.5, 100, 0.945)]
"""A rate, a number of runs, and the coverage of Jeffreys there: it swings with the rate."""


@pytest.mark.parametrize(("rate", "runs", "covered"), POINTS)
def test_at_a_single_rate_the_simulated_coverage_is_the_sum_over_all_outcomes(rate, runs, covered) -> None:
    hits = np.arange(runs + 1)
    low, high = jeffreys(hits, runs)
    exact = stats.binom.pmf(hits, runs, rate)[(low <= rate) & (rate <= high)].sum()
    draws = np.random.default_rng(7).binomial(runs, rate, 20_000)
    assert np.mean((low[draws] <= rate) & (rate <= high[draws])) == pytest.approx(exact, abs=0.006)
    assert exact == pytest.approx(covered, abs=0.02)


@pytest.mark.parametrize("rate", [0.002, 0.005, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("runs", RUNS)
def test_the_exact_lower_bound_lies_above_the_true_rate_in_at_most_2_and_a_half_percent(rate, runs) -> None:
    hits = np.arange(runs + 1)
    assert stats.binom.pmf(hits, runs, rate)[clopper_pearson_low(hits, runs) > rate].sum() <= 0.025
