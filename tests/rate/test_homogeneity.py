"""Whether machines are alike: sums by hand, Fisher's test as scipy has it, and simulated pools."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from flake_report.rate.homogeneity import _hypergeometric, homogeneity


def on_machines(*cells: tuple[int, int, int, int]):
    """Cells are (machine, stratum, jobs, jobs with trouble)."""
    machines = np.concatenate([np.full(jobs, machine) for machine, _, jobs, _ in cells])
    strata = np.concatenate([np.full(jobs, stratum) for _, stratum, jobs, _ in cells])
    trouble = np.concatenate([np.arange(jobs) < bad for _, _, jobs, bad in cells])
    return homogeneity(machines, strata, trouble)


def test_in_one_stratum_it_is_fishers_exact_test() -> None:
    found = on_machines((0, 0, 20, 6), (1, 0, 30, 1))
    for machine, table in ((0, [[6, 14], [1, 29]]), (1, [[1, 29], [6, 14]])):
        assert found.p_values[machine] == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)


def test_two_strata_are_counted_out_by_hand() -> None:
    """One of two jobs in each of two strata had trouble, both on machine 0: 1/2 · 1/2."""
    found = on_machines((0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 1, 1), (1, 1, 1, 0))
    assert found.p_values == pytest.approx([1 / 4, 1.0])
    assert found.smallest == pytest.approx([1 / 4, 1 / 4])


def test_every_way_to_deal_the_jobs_is_counted() -> None:
    """4 jobs, 2 with trouble; machine 0 got 3 of them, with both: of the 4 ways to leave one job out, 2 do so."""
    dealt = [sum(job < 2 for job in hand) for hand in combinations(range(4), 3)]
    assert on_machines((0, 0, 3, 2), (1, 0, 1, 0)).p_values[0] == pytest.approx(np.mean(np.array(dealt) >= 2))


def test_strata_without_trouble_or_with_nothing_else_say_nothing() -> None:
    found = on_machines((0, 0, 5, 0), (1, 0, 5, 0), (0, 1, 5, 5), (1, 1, 5, 5), (2, 2, 9, 4))
    assert found.p_values.tolist() == found.smallest.tolist() == found.corrected.tolist() == [1, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 12), st.integers(0, 12)), min_size=1))
def test_p_values_lie_between_the_smallest_and_one_and_correction_never_lowers_them(cells) -> None:
    found = on_machines(*[(machine, stratum, jobs, min(bad, jobs)) for machine, stratum, jobs, bad in cells])
    assert (found.smallest <= found.p_values + 1e-12).all()
    assert (found.p_values <= found.corrected + 1e-12).all()
    assert (found.corrected <= 1).all()


@given(st.integers(1, 3000), st.data())
def test_chances_of_one_stratum_are_scipys(jobs: int, data) -> None:
    bad, drawn = data.draw(st.integers(0, jobs)), data.draw(st.integers(0, jobs))
    chances = _hypergeometric(jobs, bad, drawn)
    expected = stats.hypergeom.pmf(np.arange(min(bad, drawn) + 1), jobs, bad, drawn)
    assert chances == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert chances.sum() == pytest.approx(1)


def test_no_jobs_have_no_machines() -> None:
    nothing = np.zeros(0, dtype=int)
    assert len(homogeneity(nothing, nothing, np.zeros(0, dtype=bool)).corrected) == 0


STRATA, A_STRATUM = 40, 14


def pool(random: np.random.Generator, machines: int, bad_rate: float | None):
    """Steps and weeks with rates of their own, 0.5 to 20 %; jobs go to machines at random; machine 0 may be bad."""
    strata = np.repeat(np.arange(STRATA), A_STRATUM)
    rates = np.exp(random.uniform(np.log(0.005), np.log(0.2), STRATA))[strata]
    dealt = random.integers(0, machines, len(strata))
    if bad_rate is not None:
        rates = np.where(dealt == 0, np.maximum(rates, bad_rate), rates)
    return dealt, strata, random.random(len(strata)) < rates


SIZES = [6, 30, 200]
"""Machines in the pool; 560 jobs in all."""


@pytest.mark.parametrize("machines", SIZES)
def test_among_machines_that_are_alike_one_is_called_bad_at_most_5_times_in_100(machines) -> None:
    """200 pools: with a chance of 5 %, more than 19 would happen once in 300."""
    random = np.random.default_rng(21)
    assert sum((homogeneity(*pool(random, machines, None)).corrected <= 0.05).any() for _ in range(200)) <= 19


POWER = [
    # machines, trouble on the bad one, found at least and at most in so many of 100 pools
    (6, 0.15, 0.3, 0.9),
    (6, 0.3, 0.95, 1.0),
    (30, 0.3, 0.4, 0.9),
    (30, 0.6, 0.95, 1.0),
    (200, 0.6, 0.0, 0.4),
]


@pytest.mark.parametrize(("machines", "rate", "least", "most"), POWER)
def test_how_often_a_bad_machine_is_found(machines, rate, least, most) -> None:
    random = np.random.default_rng(22)
    found = np.mean([homogeneity(*pool(random, machines, rate)).corrected[0] <= 0.05 for _ in range(100)])
    assert least <= found <= most
