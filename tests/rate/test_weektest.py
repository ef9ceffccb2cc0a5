"""One week against those before: closed forms, sums, and simulated fleets in which nothing, or something, happened."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from flake_report.rate.multiplicity import found
from flake_report.rate.overdispersion import ICCS, RATES, Spread, spread
from flake_report.rate.weektest import Margins, null_distributions, week_test


def fleet_of(rate: float, icc: float) -> Spread:
    """A fleet of tests of one rate and one ICC, the nearest that the grids have."""
    rates, iccs = np.zeros(len(RATES)), np.zeros(len(ICCS))
    rates[np.abs(np.log(RATES / rate)).argmin()] = 1
    iccs[np.abs(ICCS - icc).argmin()] = 1
    return Spread(rates, iccs)


def given_total(total: int, runs: int, before: int, worth: float, fleet: Spread) -> np.ndarray:
    margins = Margins(np.array([total]), np.array([runs]), np.array([before]), np.array([worth]))
    [(_, chances)] = null_distributions(margins, fleet)
    return chances


MARGINS = st.tuples(st.integers(1, 60), st.integers(1, 300), st.integers(1, 3000), st.sampled_from([1.0, 3.5, 12.0]))


@given(MARGINS, st.sampled_from([0.001, 0.02, 0.3]), st.sampled_from([0.0, 0.01, 0.3]))
def test_the_chances_of_all_numbers_of_failures_sum_to_1(margins, rate, icc) -> None:
    chances = given_total(*margins, fleet_of(rate, icc))
    assert len(chances) == margins[0] + 1
    assert (chances >= 0).all()
    assert chances.sum() == pytest.approx(1)


@given(MARGINS, st.sampled_from([0.02, 0.3]))
def test_where_weeks_do_not_differ_it_is_the_exact_binomial_test(margins, rate) -> None:
    total, runs, before, _ = margins
    chances = given_total(*margins, fleet_of(rate, 0))
    expected = stats.binom.pmf(np.arange(total + 1), total, runs / (runs + before))
    assert chances == pytest.approx(expected, rel=0.01, abs=1e-6)


@given(st.integers(1, 40), st.sampled_from([0.001, 0.02, 0.3]), st.sampled_from([0.0, 0.01, 0.3]))
def test_two_equal_weeks_are_mirror_images(total, rate, icc) -> None:
    chances = given_total(total, 100, 100, 1.0, fleet_of(rate, icc))
    assert chances == pytest.approx(chances[::-1])


def test_one_failure_falls_on_each_of_equal_weeks_alike() -> None:
    """Whatever their spread: 1 in 5 that it is this week's."""
    for icc in (0.0, 0.01, 0.3):
        assert given_total(1, 100, 400, 4.0, fleet_of(0.02, icc))[1] == pytest.approx(0.2)


def test_equal_weeks_share_their_failures_as_a_beta_binomial_has_it() -> None:
    """Equal scales cancel, and what is left of negative binomials given their sum is Dirichlet-multinomial."""
    fleet = fleet_of(0.02, 0.01)
    shape = float(RATES[fleet.rates.argmax()]) * 99
    expected = stats.betabinom.pmf(np.arange(31), 30, shape, 4 * shape)
    assert given_total(30, 100, 400, 4.0, fleet) == pytest.approx(expected, rel=1e-9)


def test_tails_add_up_and_the_smallest_are_attained() -> None:
    failures, runs = np.array([0, 1, 2, 3]), np.full(4, 100)
    before = np.array([[3, 0], [2, 0], [0, 1], [0, 0]])
    test = week_test(failures, runs, before, np.full((4, 2), 100), fleet_of(0.02, 0.01))
    chances = given_total(3, 100, 200, 2.0, fleet_of(0.02, 0.01))
    assert test.worse == pytest.approx(chances[::-1].cumsum()[::-1])
    assert test.better == pytest.approx(chances.cumsum())
    assert test.worse_smallest == pytest.approx(np.full(4, chances[3]))
    assert test.better_smallest == pytest.approx(np.full(4, chances[0]))


def test_without_failures_or_without_a_side_nothing_can_be_told() -> None:
    test = week_test(np.array([0, 1, 0]), np.array([9, 9, 0]), np.array([[0], [0], [1]]), np.array([[9], [0], [9]]),
                     fleet_of(0.02, 0.01))  # fmt: skip
    assert (np.stack([test.worse, test.better, test.worse_smallest, test.better_smallest]) == 1).all()


def test_weeks_that_differ_make_the_same_burst_less_remarkable() -> None:
    p_values = [
        week_test(
            np.array([12]), np.array([200]), np.array([[2] * 4]), np.array([[200] * 4]), fleet_of(0.02, icc)
        ).worse[0]
        for icc in (0.0, 0.003, 0.01, 0.03)
    ]
    assert p_values == sorted(p_values)
    assert p_values[-1] > 50 * p_values[0]


VARIANTS, BEFORE, SOME = 2000, 8, 10


def simulated(random: np.random.Generator, runs: int, iccs: np.ndarray, changed: float | None):
    """A fleet of which a tenth fails, at 0.1 to 20 %; its newest week first. Of `SOME` tests 1 % became `changed`."""
    failing = random.random(VARIANTS) < 0.1
    rates = np.where(failing, np.exp(random.uniform(np.log(0.001), np.log(0.2), VARIANTS)), 1e-12)
    rates = np.repeat(rates[:, None], BEFORE + 1, axis=1)
    if changed is not None:
        rates[:SOME] = 0.01
        rates[:SOME, 0] = changed
    m = 1 / np.maximum(iccs, 1e-9)[:, None] - 1
    drawn = np.where(iccs[:, None] > 0, random.beta(rates * m, (1 - rates) * m), rates)
    return random.binomial(runs, drawn), np.full(rates.shape, runs)


def false_and_true(random, runs: int, iccs, changed: float | None) -> tuple[int, int]:
    """What is found among the tests that did not change, and among those that did."""
    failures, ran = simulated(random, runs, iccs, changed)
    fleet = spread(failures[:, 1:], ran[:, 1:])
    test = week_test(failures[:, 0], ran[:, 0], failures[:, 1:], ran[:, 1:], fleet)
    now, before = failures[:, 0] / runs, failures[:, 1:].mean(axis=1) / runs
    worse = found(test.worse, test.worse_smallest)
    worse &= (failures[:, 0] >= 3) & (now - before >= 0.01) & (now >= 2 * before)
    changes = SOME if changed is not None else 0
    return int(worse[changes:].sum()), int(worse[:changes].sum())


FLEETS = {
    "weeks that do not differ": lambda _random: np.zeros(VARIANTS),
    "an ICC of 0.01": lambda _random: np.full(VARIANTS, 0.01),
    "half of the tests calm, half with an ICC of 0.02": lambda random: np.where(random.random(VARIANTS) < 0.5, 0.02, 0),
    "one test in ten with an ICC of 0.05": lambda random: np.where(random.random(VARIANTS) < 0.1, 0.05, 0),
}


@pytest.mark.parametrize("iccs", FLEETS.values(), ids=FLEETS.keys())
def test_without_any_change_few_weeks_hold_a_false_worse(iccs) -> None:
    """40 weeks; with a chance of 5 % each, more than 5 of them would happen 1 time in 72."""
    random = np.random.default_rng(11)
    assert sum(false_and_true(random, 200, iccs(random), None)[0] > 0 for _ in range(40)) <= 5


def test_the_exact_test_without_the_allowance_is_full_of_false_findings() -> None:
    random = np.random.default_rng(12)
    failures, runs = simulated(random, 200, np.full(VARIANTS, 0.01), None)
    test = week_test(failures[:, 0], runs[:, 0], failures[:, 1:], runs[:, 1:], fleet_of(0.02, 0))
    assert found(test.worse, test.worse_smallest).sum() >= 5


POWER = [
    # runs a week, ICC, the 1 % became, found at least and at most of ten
    (14, 0.01, 0.2, 0.0, 0.6),
    (100, 0.0, 0.05, 0.05, 0.5),
    (200, 0.0, 0.05, 0.4, 0.9),
    (500, 0.0, 0.05, 0.9, 1.0),
    (200, 0.01, 0.05, 0.0, 0.2),
    (200, 0.01, 0.2, 0.85, 1.0),
    (500, 0.01, 0.2, 0.95, 1.0),
]


@pytest.mark.parametrize(("runs", "icc", "changed", "least", "most"), POWER)
def test_what_can_be_found(runs, icc, changed, least, most) -> None:
    random = np.random.default_rng(13)
    found_of = [false_and_true(random, runs, np.full(VARIANTS, icc), changed)[1] for _ in range(6)]
    assert least <= np.mean(found_of) / SOME <= most
