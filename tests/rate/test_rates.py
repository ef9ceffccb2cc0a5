"""Rates of histories that are spelled out, so that every count can be checked by eye."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake_report.model.rate import History, Streak
from flake_report.rate.intervals import clopper_pearson_low, jeffreys
from flake_report.rate.rates import Tally, flake_rates, main_signature, tally

STORY = ("P", "FP", "F", "V", "V|P", "P!", "S", "wwV", "P|F", "P")
"""Ten builds: 2 plain passes, 1 recovered, 1 failed, 2 victims, a victim that passed, 1 lost, 1 skipped, 1 flip."""


def named(history: History, name: str) -> History:
    return replace(history, variant=replace(history.variant, test=replace(history.variant.test, name=name)))


def test_a_story_is_counted_as_its_definitions_say(history) -> None:
    assert tally(history(*STORY)) == Tally(
        runs=9,  # all but the skipped one
        own=6,  # P, FP, F, V|P, P|F, P
        first_failed=2,  # FP, F
        victims=3,  # V, V|P, wwV
    )


def test_both_rates_stand_with_their_intervals(history) -> None:
    (rate,) = flake_rates([history(*STORY)])
    assert (rate.own.hits, rate.own.n, rate.own.rate) == (2, 6, 2 / 6)
    assert (rate.environment.hits, rate.environment.n, rate.environment.rate) == (3, 9, 3 / 9)
    low, high = jeffreys(2, 6)
    assert (rate.own.low, rate.own.high) == (low, high)
    assert rate.rank_low == clopper_pearson_low(2, 6)


def test_the_main_signature_is_the_most_frequent_over_failed_runs(history) -> None:
    assert main_signature(history("F", "V", "wV", "P")) == "gpu-memory"


def test_of_equally_frequent_signatures_the_first_by_name_is_shown(history) -> None:
    assert main_signature(history("V", "F")) == "assertion"


def test_no_failure_has_no_signature(history) -> None:
    assert main_signature(history("P", "S", "P!")) == ""


def test_a_test_that_never_ran_could_have_any_rate(history) -> None:
    (rate,) = flake_rates([history("S", "S")])
    assert (rate.own.n, rate.own.low, rate.own.high) == (0, 0.0, 1.0)
    assert rate.rank_low == 0


def test_lists_are_ranked_by_evidence_and_not_by_the_bare_rate(history) -> None:
    seen_twice = named(history("F", "P"), "half of two")
    seen_often = named(history(*["F", "P", "P"] * 30), "a third of ninety")
    assert [rate.variant.test.name for rate in flake_rates([seen_twice, seen_often])] == [
        "a third of ninety",
        "half of two",
    ]


def test_where_no_test_failed_by_itself_the_environment_decides_then_the_name(history) -> None:
    rates = flake_rates([named(history("P"), "b"), named(history("P"), "a"), named(history("V", "V", "P"), "z")])
    assert [rate.variant.test.name for rate in rates] == ["z", "a", "b"]


def test_the_order_of_the_input_does_not_matter(history) -> None:
    histories = [named(history(*["P"] * at, "F"), f"t{at % 3}{at}") for at in range(6)]
    assert flake_rates(histories) == flake_rates(histories[::-1])


def test_no_histories_have_no_rates() -> None:
    assert flake_rates([]) == ()


def test_streaks_count_with_all_their_runs(history) -> None:
    long = replace(history("P"), passes=(Streak(0, 4999, 5000),))
    (rate,) = flake_rates([long])
    assert (rate.own.n, rate.own.hits) == (5000, 0)
    assert rate.own.high == pytest.approx(0.0005, rel=0.01)
