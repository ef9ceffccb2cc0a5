"""The likelihood of counts, by what a reader can check: sums to 1, closed forms, symmetry."""

from __future__ import annotations

from math import comb, log, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from flake_report.rate.likelihood import AGAIN, FIRST, Likelihood, Stream

TABLES = {prior: Stream.up_to(200, prior) for prior in (FIRST, AGAIN)}


def chance(prior: tuple[float, float], hits: int, runs: int) -> float:
    return float(np.exp(TABLES[prior].log(np.array(hits), np.array(runs))))


@pytest.mark.parametrize("prior", [FIRST, AGAIN], ids=["first attempts", "retries"])
@pytest.mark.parametrize("runs", [0, 1, 2, 7, 60])
def test_the_probabilities_of_all_sequences_sum_to_1(prior, runs) -> None:
    assert sum(comb(runs, hits) * chance(prior, hits, runs) for hits in range(runs + 1)) == pytest.approx(1)


def test_one_run_fails_with_the_mean_of_the_prior() -> None:
    assert chance(FIRST, 1, 1) == pytest.approx(0.3 / 0.8)
    assert chance(AGAIN, 1, 1) == pytest.approx(0.5)


def test_two_failures_of_two_have_a_closed_form() -> None:
    """(a / (a + b)) ((a + 1) / (a + b + 1))."""
    assert chance(FIRST, 2, 2) == pytest.approx(0.3 / 0.8 * 1.3 / 1.8)


@given(st.integers(0, 200).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_with_an_even_prior_failures_and_passes_are_mirror_images(counts) -> None:
    hits, runs = counts
    assert chance(AGAIN, hits, runs) == pytest.approx(chance(AGAIN, runs - hits, runs))


@pytest.mark.parametrize(("hits", "runs"), [(1, 2), (3, 9), (8, 9)])
def test_it_is_the_integral_over_the_prior(hits, runs) -> None:
    """With p = sin² t the arcsine prior is even over t: dp / (π sqrt(p (1 - p))) = 2 dt / π."""
    integral, _ = quad(lambda t: np.sin(t) ** (2 * hits) * np.cos(t) ** (2 * (runs - hits)) * 2 / pi, 0, pi / 2)
    assert chance(AGAIN, hits, runs) == pytest.approx(integral)


def test_two_streams_are_multiplied_and_no_retries_change_nothing() -> None:
    both = Likelihood.up_to(10)
    counts = [np.array(each) for each in (2, 9, 1, 2)]
    assert float(both.log(*counts)) == pytest.approx(log(chance(FIRST, 2, 9)) + log(chance(AGAIN, 1, 2)))
    assert float(both.log(*counts[:2], np.array(0), np.array(0))) == pytest.approx(log(chance(FIRST, 2, 9)))
