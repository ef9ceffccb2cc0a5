"""The spread of a fleet: its probabilities against scipy's, and what it makes of fleets whose spread is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from flake_report.rate.overdispersion import CONCENTRATIONS, ICCS, RATES, SHAPES, _Seen, spread


def weeks(rate: float, icc: float, *, variants: int, weeks: int, runs: int, seed: int):
    """Failures and runs of variants of one rate, their weekly rates drawn from the beta distribution of this ICC."""
    random = np.random.default_rng(seed)
    m = 1 / icc - 1 if icc else 0
    shape = (variants, weeks)
    rates = random.beta(rate * m, (1 - rate) * m, shape) if icc else np.full(shape, rate)
    return random.binomial(runs, rates), np.full(shape, runs)


def test_the_probability_of_some_weeks_is_scipys_negative_binomial() -> None:
    failures, runs = np.array([[3, 0, 1]]), np.array([[50, 80, 20]])
    odds = 1 / (1 + runs.T / CONCENTRATIONS)
    expected = stats.nbinom.logpmf(failures.T, SHAPES, odds).sum(axis=0)
    assert _Seen.of(failures, runs).log_likelihood()[0] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_the_shape_and_scale_give_the_mean_and_the_variance_that_are_promised() -> None:
    pair = int(np.flatnonzero(np.tile(ICCS, len(RATES)) == 0.01)[20])
    shape, m, runs = SHAPES[pair], CONCENTRATIONS[pair], 200
    rate = shape / m
    mean, variance = stats.nbinom.stats(shape, 1 / (1 + runs / m))
    assert mean == pytest.approx(runs * rate)
    assert variance == pytest.approx(runs * rate * (1 + runs / m))
    beta_binomial = stats.betabinom.var(runs, rate * m, (1 - rate) * m)
    assert beta_binomial < variance < beta_binomial * 1.02


def test_shares_sum_to_one() -> None:
    found = spread(*weeks(0.02, 0.01, variants=100, weeks=6, runs=100, seed=1))
    assert found.rates.sum() == pytest.approx(1)
    assert found.iccs.sum() == pytest.approx(1)
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("icc", [0.0, 0.003, 0.01, 0.03])
def test_a_fleet_of_one_icc_is_found_to_have_about_that(icc) -> None:
    found = spread(*weeks(0.03, icc, variants=800, weeks=8, runs=200, seed=2))
    assert found.icc == pytest.approx(icc, rel=0.25, abs=0.0006)


def test_of_two_kinds_of_tests_both_are_seen() -> None:
    calm = weeks(0.02, 0.0, variants=500, weeks=8, runs=200, seed=3)
    wild = weeks(0.02, 0.1, variants=500, weeks=8, runs=200, seed=4)
    found = spread(np.concatenate([calm[0], wild[0]]), np.concatenate([calm[1], wild[1]]))
    assert found.iccs[ICCS <= 0.001].sum() == pytest.approx(0.5, abs=0.1)
    assert found.iccs[ICCS >= 0.03].sum() == pytest.approx(0.5, abs=0.1)


def test_the_rates_of_a_fleet_are_found() -> None:
    clean = np.zeros((900, 6), dtype=int)
    failing, _ = weeks(0.05, 0.0, variants=100, weeks=6, runs=200, seed=5)
    found = spread(np.concatenate([clean, failing]), np.full((1000, 6), 200))
    assert found.rates[(RATES > 0.03) & (RATES < 0.08)].sum() == pytest.approx(0.1, abs=0.01)
    assert found.rates[RATES < 0.001].sum() == pytest.approx(0.9, abs=0.01)


def test_without_anything_to_learn_from_every_spread_is_thought_possible() -> None:
    nothing = spread(np.zeros((0, 3), dtype=int), np.zeros((0, 3), dtype=int))
    quiet = spread(np.zeros((5, 3), dtype=int), np.full((5, 3), 7))
    for fleet in (nothing, quiet):
        assert fleet.iccs[ICCS >= 0.03].sum() > 0.3
        assert (fleet.iccs > 0.05).all()


def test_weeks_without_runs_say_nothing() -> None:
    failures, runs = weeks(0.03, 0.01, variants=200, weeks=5, runs=100, seed=6)
    gap = np.zeros((200, 1), dtype=int)
    with_gaps = spread(np.hstack([failures, gap]), np.hstack([runs, gap]))
    assert with_gaps.icc == pytest.approx(spread(failures, runs).icc, rel=1e-6)


def test_a_large_fleet_is_thinned_and_says_much_the_same() -> None:
    random = np.random.default_rng(7)
    runs = random.integers(150, 250, (6000, 4))
    failures = random.binomial(runs, random.beta(0.03 * 99, 0.97 * 99, runs.shape))
    assert spread(failures, runs).icc == pytest.approx(0.01, rel=0.15)
