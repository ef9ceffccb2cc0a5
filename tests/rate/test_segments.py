"""Segments of histories that are spelled out, and where their changes lie."""

from __future__ import annotations

import numpy as np
import pytest

from flake_report.model.rate import Fleet, History, Streak
from flake_report.rate.likelihood import Likelihood
from flake_report.rate.pieces import order_of, pieces
from flake_report.rate.segments import Parted, parted, position

LIKELIHOOD = Likelihood.up_to(500)


def only(fleet: Fleet) -> Parted:
    (one,) = parted(fleet)
    return one


def test_a_regression_is_a_segment_with_its_counts(fleet) -> None:
    before, broken, after = only(fleet(*["P"] * 30, *["F|F"] * 8, *["P"] * 30)).segments
    assert (before.first, before.last, before.runs, before.first_failed, before.breakage) == (0, 29, 30, 0, False)
    assert (broken.first, broken.last, broken.runs, broken.failed, broken.breakage) == (30, 37, 8, 8, True)
    assert (broken.first_failed, broken.retried, broken.failed_after_retry) == (8, 8, 8)
    assert (after.first, after.last, after.runs, after.breakage) == (38, 67, 30, False)


def test_a_test_that_passes_when_it_is_tried_again_is_not_broken_however_often_it_fails_first(fleet) -> None:
    *_, last = only(fleet(*["P"] * 60, *["F|P"] * 30)).segments
    assert last.first == 60
    assert not last.breakage


def test_nine_in_ten_failed_runs_are_a_breakage_and_fewer_are_not(fleet) -> None:
    def ends_broken(*last: str) -> bool:
        return only(fleet(*["P"] * 60, *last)).segments[-1].breakage

    assert ends_broken(*["F"] * 9, "P", *["F"] * 9)
    assert not ends_broken(*["F"] * 4, "P", *["F"] * 4, "P", *["F"] * 3)


def test_one_failed_run_is_no_breakage_even_where_it_is_all_there_is(fleet) -> None:
    assert [segment.breakage for segment in only(fleet("F")).segments] == [False]
    assert [segment.breakage for segment in only(fleet("F", "F")).segments] == [True]


def test_victims_lost_and_skipped_runs_are_in_no_segment(fleet) -> None:
    (all_of_it,) = only(fleet("P", "V", "P!", "S", "P", "V|P")).segments
    assert (all_of_it.first, all_of_it.last, all_of_it.runs) == (0, 5, 3)


def test_without_own_runs_there_is_no_segment(fleet) -> None:
    one = only(fleet("S", "V"))
    assert (one.segments, one.first, one.last) == ((), None, None)


def test_segments_hold_every_own_run_once(fleet) -> None:
    one = only(fleet(*["P", "F|P", "P"] * 10, *["F"] * 12, *["P"] * 20, "F", *["P"] * 5))
    assert sum(segment.runs for segment in one.segments) == 68
    assert [segment.first for segment in one.segments[1:]] == [
        next(piece.first for piece in one.runs if piece.first > segment.last) for segment in one.segments[:-1]
    ]


def test_only_histories_that_passed_alike_share_what_was_found(fleet) -> None:
    one = fleet("P", "P", "V", "P", "F", "P")
    (told,) = one.histories
    passes = [(Streak(0, 5, 6),), (Streak(0, 5, 5),), (Streak(0, 5, 6),), (), (Streak(0, 2, 3), Streak(3, 5, 3))]
    quiet = [told._replace(runs=(), passes=each) for each in passes]
    skipped = told._replace(runs=(), passes=(), skips=(Streak(0, 5, 6),))
    found = parted(Fleet(one.builds, one.pools, (told, *quiet, skipped)))
    assert [sum(segment.runs for segment in each.segments) for each in found] == [5, 6, 5, 6, 0, 6, 0]
    assert [len(each.runs) for each in found] == [len(pieces(told)), 1, 1, 1, 0, 2, 0]
    assert [found[1] is other for other in found] == [False, True, False, True, False, False, False]


def sums(failed: list[int]) -> np.ndarray:
    runs = len(failed)
    single = np.stack([failed, [1] * runs, [0] * runs, [0] * runs])
    return np.concatenate([np.zeros((4, 1), dtype=np.int64), single.cumsum(axis=1)], axis=1)


def test_where_never_becomes_always_the_change_is_known_to_the_run(fleet) -> None:
    _, broken, mended = only(fleet(*["P"] * 200, *["F"] * 100, *["P"] * 200)).segments
    assert (broken.earliest, broken.latest) == (200, 200)
    assert (mended.earliest, mended.latest) == (300, 300)


def test_the_first_segment_has_no_beginning_to_look_for(fleet) -> None:
    first, *_ = only(fleet(*["P"] * 60, *["F"] * 20)).segments
    assert (first.earliest, first.latest) == (None, None)


def test_a_mirrored_history_has_a_mirrored_interval() -> None:
    """With the prior of first attempts mirrored, too, before becomes after; here both sides have one prior."""
    failed = [0] * 30 + [1, 0, 1, 1, 0, 1, 1, 1] * 4
    low, high = position(sums(failed), 30, LIKELIHOOD)
    mirrored_low, mirrored_high = position(sums(failed[::-1]), len(failed) - 30, LIKELIHOOD)
    assert (mirrored_low, mirrored_high) == (len(failed) - high, len(failed) - low)


def test_the_interval_always_holds_the_change_that_was_found() -> None:
    random = np.random.default_rng(5)
    for _ in range(200):
        failed = (random.random(80) < np.repeat([0.02, 0.4], 40)).astype(int).tolist()
        low, high = position(sums(failed), 40, LIKELIHOOD)
        assert 0 < low <= 40 <= high < 80


def likeliest(failed: list[int]) -> int:
    """The run before which one change is the most likely."""
    counts = sums(failed)
    inner = counts[:, 1:-1]
    return int((LIKELIHOOD.log(*inner) + LIKELIHOOD.log(*(counts[:, -1:] - inner))).argmax()) + 1


@pytest.mark.parametrize(("before", "after"), [(0.02, 0.4), (0.0, 0.3), (0.3, 0.02), (0.1, 0.9)])
def test_the_true_change_lies_in_the_interval_19_times_in_20(before, after) -> None:
    """The prior of the position is flat, and so is the true position here; rates are fixed, so 95 % holds about."""
    random = np.random.default_rng(6)
    held = 0
    for _ in range(500):
        true = int(random.integers(20, 181))
        failed = (random.random(200) < np.where(np.arange(200) < true, before, after)).astype(int).tolist()
        low, high = position(sums(failed), likeliest(failed), LIKELIHOOD)
        held += low <= true <= high
    assert held / 500 >= 0.92


def test_a_streak_lies_in_the_builds_of_its_pool(history) -> None:
    one: History = history("P")
    streaks = pieces(History(one.variant, (), (Streak(3, 9, 4), Streak(20, 20, 1))))
    assert [order_of(streaks, nth, [1, 3, 5, 8, 9, 20]) for nth in range(5)] == [3, 5, 8, 9, 20]


def test_where_the_pool_is_not_known_a_streak_lies_evenly_between_its_ends(history) -> None:
    one: History = history("P")
    streaks = pieces(History(one.variant, (), (Streak(10, 30, 3),)))
    assert [order_of(streaks, nth, []) for nth in range(3)] == [10, 20, 30]
