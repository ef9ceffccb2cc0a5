"""Design effects and effective runs, by cases that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from flake_report.rate.clusters import clustered, design_effect, effective
from flake_report.rate.intervals import jeffreys


def test_jobs_that_fail_whole_or_not_at_all_count_as_one_run_each() -> None:
    """Σ(y - p m)² is J p(1-p) m², so d = J/(J-1) · m: ten runs of a job tell as much as one."""
    failed = np.array([10, 10, 0, 0, 0, 0, 0, 0])
    assert float(design_effect(failed, 10)) == pytest.approx(8 / 7 * 10)


def test_one_run_a_job_has_no_design_effect_beyond_its_small_sample_factor() -> None:
    assert float(design_effect(np.array([1, 0, 0, 0, 1, 0, 0, 0]), 1)) == pytest.approx(8 / 7)


def test_failures_spread_evenly_are_never_worth_more_than_independent_ones() -> None:
    assert float(design_effect(np.array([1, 1, 1, 1]), 10)) == 1


def test_nothing_can_be_told_of_runs_that_all_did_the_same_or_of_one_job() -> None:
    assert np.isnan(design_effect(np.array([[0, 0, 0], [5, 5, 5]]), 5)).all()
    assert np.isnan(design_effect(np.array([2, 0]), np.array([5, 0])))


def test_jobs_without_runs_change_nothing() -> None:
    assert design_effect([3, 0, 1, 0], [5, 5, 5, 0]) == design_effect([3, 0, 1], [5, 5, 5])


@given(st.lists(st.integers(0, 8), min_size=2, max_size=12))
def test_the_order_of_jobs_does_not_matter(failed) -> None:
    once, turned = design_effect(failed, 8), design_effect(failed[::-1], 8)
    assert once == pytest.approx(turned, nan_ok=True)
    assert np.isnan(once) or once >= 1


def test_effective_runs_pay_for_the_uncertainty_of_few_jobs() -> None:
    ratio = stats.t.ppf(0.975, 199) / stats.t.ppf(0.975, 19)
    assert float(effective(200, 20, 2.0)) == pytest.approx(100 * ratio**2)
    assert float(effective(200, 1, 2.0)) == 0
    assert float(effective(200, 200, 1.0)) == pytest.approx(200)


def test_runs_that_are_worth_themselves_have_the_plain_interval() -> None:
    assert [float(end) for end in clustered(3, 50, 50)] == pytest.approx([float(end) for end in jeffreys(3, 50)])


def test_one_job_says_nothing_of_the_next() -> None:
    assert [float(end) for end in clustered(3, 50, 0)] == [0.0, 1.0]
