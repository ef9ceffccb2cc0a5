"""Many tests at once, against what can be counted by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from flake_report.rate.multiplicity import family_wise, found, worth_testing

P_VALUES = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=40).map(np.array)


def test_a_hypothesis_that_could_never_be_found_is_not_counted_among_the_others() -> None:
    """Two can reach 0.001, and 0.05/2 is above it; the other 98 cannot even reach 0.05."""
    smallest = np.array([0.001, 0.001] + [0.5] * 98)
    assert worth_testing(smallest).tolist() == [True, True] + [False] * 98


def test_of_hypotheses_that_crowd_each_other_out_only_those_stay_that_can_win_among_so_many() -> None:
    """20 reach 0.004 at best: among 12 that is enough (0.05/12 > 0.004) but they are 20, so none of them stays."""
    assert not worth_testing(np.full(20, 0.004)).any()
    assert worth_testing(np.full(12, 0.004)).all()


def test_all_count_where_each_can_be_arbitrarily_sure() -> None:
    assert worth_testing(np.zeros(7)).all()


def test_the_untestable_cost_the_others_nothing() -> None:
    p_values, smallest = np.array([0.02, 0.9, 0.9]), np.array([0.0, 0.9, 0.9])
    assert found(p_values, smallest).tolist() == [True, False, False]
    assert not found(p_values, np.zeros(3)).any()


@given(P_VALUES)
def test_with_all_testable_the_findings_are_those_of_scipys_adjusted_p_values(p_values) -> None:
    adjusted = stats.false_discovery_control(p_values)
    sure = np.abs(adjusted - 0.05) > 1e-12
    assert (found(p_values, np.zeros(len(p_values))) == (adjusted <= 0.05))[sure].all()


def test_holms_adjusted_p_values_are_worked_out_by_hand() -> None:
    """Sorted .01 .02 .03 .5: times 4, 3, 2, 1 is .04 .06 .06 .5, each at least the one before."""
    adjusted = family_wise(np.array([0.03, 0.5, 0.01, 0.02]), np.zeros(4))
    assert adjusted == pytest.approx([0.06, 0.5, 0.04, 0.06])


def test_what_is_not_testable_is_never_sure() -> None:
    assert family_wise(np.array([0.01, 0.6]), np.array([0.001, 0.6])).tolist() == [0.01, 1.0]


@given(P_VALUES)
def test_an_adjusted_p_value_is_never_below_its_own_nor_above_bonferronis(p_values) -> None:
    adjusted = family_wise(p_values, np.zeros(len(p_values)))
    assert (adjusted >= p_values - 1e-15).all()
    assert (adjusted <= np.minimum(1, p_values * len(p_values)) + 1e-12).all()


def test_nothing_asked_is_nothing_found() -> None:
    nothing = np.zeros(0)
    assert len(worth_testing(nothing)) == len(found(nothing, nothing)) == len(family_wise(nothing, nothing)) == 0
