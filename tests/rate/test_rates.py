"""Rates of histories that are spelled out, so that every count can be checked by eye."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake_report.model.rate import FlakeRate, Fleet, History, Pool, Retried, Streak
from flake_report.model.verdict import TestVerdict
from flake_report.rate.intervals import clopper_pearson_low, jeffreys
from flake_report.rate.rates import Tally, flake_rates, interval, main_signature, tally
from flake_report.rate.segments import parted

STORY = ("P", "FP", "F", "V", "V|P", "P!", "S", "wwV", "P|F", "P")
"""Ten builds: 2 plain passes, 1 recovered, 1 failed, 2 victims, a victim that passed, 1 lost, 1 skipped, 1 flip."""

BUDGET = 0.005


def named(one: Fleet, name: str) -> Fleet:
    (history,) = one.histories
    variant = history.variant._replace(test=history.variant.test._replace(name=name))
    return replace(one, histories=(history._replace(variant=variant),))


def together(*fleets: Fleet) -> Fleet:
    """Histories of the same builds; the longest one's builds and pools are those of all."""
    longest = max(fleets, key=lambda one: len(one.builds))
    return replace(longest, histories=tuple(history for one in fleets for history in one.histories))


def rates(*fleets: Fleet) -> tuple[FlakeRate, ...]:
    return flake_rates(together(*fleets), BUDGET)


def counted(one: Fleet) -> Tally:
    (history,), (parts,) = one.histories, parted(one)
    return tally(history, parts)


def test_a_story_is_counted_as_its_definitions_say(fleet) -> None:
    assert replace(counted(fleet(*STORY)), mixed=()) == Tally(
        runs=9,  # all but the skipped one
        victims=3,  # V, V|P, wwV
        own=6,  # P, FP, F, V|P, P|F, P
        first_failed=2,  # FP, F
        retried=Retried(session=1),  # FP
        recovered=1,
        mixed=(),
    )
    assert [run.build for run in counted(fleet(*STORY)).mixed] == ["1", "8"]  # FP and P|F


def test_both_rates_stand_with_their_intervals(fleet) -> None:
    (rate,) = rates(fleet(*STORY))
    assert (rate.own.hits, rate.own.n, rate.own.rate) == (2, 6, 2 / 6)
    assert (rate.environment.hits, rate.environment.n, rate.environment.rate) == (3, 9, 3 / 9)
    low, high = jeffreys(2, 6)
    assert (rate.own.low, rate.own.high) == (low, high)
    assert rate.rank_low == clopper_pearson_low(2, 6)


def test_who_retried_is_told_apart(fleet) -> None:
    """The job retries of these histories are automatic; a session's own reruns stand in one job."""
    assert counted(fleet("F|P", "FF", "FF|P", "F", "P")).retried == Retried(session=1, automatic=2)


def test_recovery_is_of_runs_that_were_retried(fleet) -> None:
    (rate,) = rates(fleet("F|P", "F|F", "F", "P", "FP"))
    assert (rate.recovery.hits, rate.recovery.n) == (2, 3)
    assert rate.flaky_runs == 2


def test_a_breakage_leaves_every_own_count(fleet) -> None:
    (rate,) = rates(fleet(*["P"] * 40, *["F|F"] * 10, *["P"] * 40, "F|P"))
    assert [breakage.runs for breakage in rate.breakages] == [10]
    assert (rate.own.hits, rate.own.n) == (1, 81)
    assert (rate.recovery.hits, rate.recovery.n, rate.retried) == (1, 1, Retried(automatic=1))
    assert rate.environment.n == 91


def test_the_chance_to_be_over_the_budget_grows_with_every_failure(fleet) -> None:
    chances = [rates(fleet(*["P"] * 200, *["F", "P"] * failures))[0].over_budget for failures in range(4)]
    assert chances == sorted(chances)
    assert chances[0] < 0.2
    assert chances[3] > 0.9


def test_the_main_signature_is_the_most_frequent_over_failed_runs(history) -> None:
    assert main_signature(history("F", "V", "wV", "P")) == "gpu-memory"


def test_of_equally_frequent_signatures_the_first_by_name_is_shown(history) -> None:
    assert main_signature(history("V", "F")) == "assertion"


def test_no_failure_has_no_signature(history) -> None:
    assert main_signature(history("P", "S", "P!")) == ""


def test_a_test_that_never_ran_could_have_any_rate(fleet) -> None:
    (rate,) = rates(fleet("S", "S"))
    assert (rate.own.n, rate.own.low, rate.own.high) == (0, 0.0, 1.0)
    assert rate.rank_low == 0
    assert (rate.first_order, rate.last_order) == (None, None)


def test_the_first_and_the_last_build_are_those_with_an_own_attempt(fleet) -> None:
    (rate,) = rates(fleet("S", "V", "P", "F", "P", "P!", "S"))
    assert (rate.first_order, rate.last_order) == (2, 4)


def test_lists_are_ranked_by_evidence_and_not_by_the_bare_rate(fleet) -> None:
    seen_twice = named(fleet("F", "P"), "half of two")
    seen_often = named(fleet(*["F", "P", "P"] * 30), "a third of ninety")
    assert [rate.variant.test.name for rate in rates(seen_twice, seen_often)] == [
        "a third of ninety",
        "half of two",
    ]


def test_broken_tests_lead(fleet) -> None:
    broken = named(fleet(*["P"] * 30, *["F"] * 8), "broken")
    flaky = named(fleet(*["F|P", "P"] * 30), "flaky")
    assert [rate.verdict for rate in rates(flaky, broken)] == [TestVerdict.BROKEN, TestVerdict.FLAKY]


def test_where_no_test_failed_by_itself_the_environment_decides_then_the_name(fleet) -> None:
    ranked = rates(named(fleet("P"), "b"), named(fleet("P"), "a"), named(fleet("V", "V", "P"), "z"))
    assert [rate.variant.test.name for rate in ranked] == ["z", "a", "b"]


def test_the_order_of_the_input_does_not_matter(fleet) -> None:
    fleets = [named(fleet(*["P"] * at, "F"), f"t{at % 3}{at}") for at in range(6)]
    assert rates(*fleets) == rates(*fleets[::-1])


def test_tests_that_passed_alike_have_the_rates_that_each_has_alone(fleet) -> None:
    """`b` is `a` in another step, `d` with a skipped run; `g` is `c` with a told one; others passed apart."""
    one = fleet("P", "P", "P", "F|P", "P", "P")
    (flaky,) = one.histories
    passes = {"a": (0, 5, 6), "b": (0, 5, 6), "c": (0, 5, 5), "d": (0, 5, 6), "e": (1, 5, 5)}
    others = {name: flaky._replace(runs=(), passes=(Streak(*ends),)) for name, ends in passes.items()}
    others["b"] = others["b"]._replace(variant=flaky.variant._replace(step="other"))
    others["d"] = others["d"]._replace(skips=(Streak(2, 2, 1),))
    others["f"] = flaky._replace(runs=(), passes=(), skips=(Streak(0, 5, 6),))
    others["g"] = flaky._replace(passes=others["c"].passes)
    pools = (Pool("other", flaky.variant.queue, (0, 3, 5)), *one.pools)
    fleets = [named(one, "flaky")]
    fleets += [named(replace(one, pools=pools, histories=(each,)), name) for name, each in others.items()]
    both = replace(together(*fleets), pools=pools)
    found = {rate.variant.test.name: rate for rate in flake_rates(both, BUDGET)}
    assert {name: (rate.own.hits, rate.own.n) for name, rate in found.items()} == {
        "flaky": (1, 6), "a": (0, 6), "b": (0, 6), "c": (0, 5), "d": (0, 6), "e": (0, 5), "f": (0, 0),
        "g": (1, 6),
    }  # fmt: skip
    assert {name: (rate.first_order, rate.last_order) for name, rate in found.items() if name in "bef"} == {
        "b": (0, 5), "e": (1, 5), "f": (None, None),
    }  # fmt: skip
    for each in fleets:
        (alone,) = flake_rates(each, BUDGET)
        assert found[alone.variant.test.name] == alone


def test_no_histories_have_no_rates() -> None:
    assert flake_rates(Fleet((), (), ()), BUDGET) == ()


def test_streaks_count_with_all_their_runs(fleet) -> None:
    one = fleet("P")
    (short,) = one.histories
    long: History = short._replace(passes=(Streak(0, 4999, 5000),))
    (rate,) = rates(replace(one, histories=(long,)))
    assert (rate.own.n, rate.own.hits) == (5000, 0)
    assert rate.own.high == pytest.approx(0.0005, rel=0.01)


def test_one_interval_is_that_of_the_same_counts_among_others(fleet) -> None:
    (rate,) = rates(fleet(*STORY))
    assert interval(2, 6) == rate.own


def test_a_test_that_fails_in_bouts_is_called_unsteady_and_a_steady_one_not(fleet) -> None:
    """The fixture builds one an hour: 168 a week. Twelve flakes each, in the second week alone or spread evenly."""
    bout = named(fleet(*["P"] * 168, *["F|P", *["P"] * 13] * 12, *["P"] * 336), "bout")
    steady = named(fleet(*["F|P", *["P"] * 55] * 12), "steady")
    assert {rate.variant.test.name: rate.unsteady for rate in rates(bout, steady)} == {"bout": True, "steady": False}
