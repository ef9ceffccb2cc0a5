"""Verdicts on histories whose truth is known: no regression is called flaky, and few flakes are missed.

The larger run stands in `bench/bench_verdicts.py`.
"""

from __future__ import annotations

import pytest

from flake_report.rate import runs
from rate.simulated.fleets import fleet
from rate.simulated.known_bad import flip_or_two_episodes, red_between_green
from rate.simulated.plan import Plan
from rate.simulated.records import records
from rate.simulated.score import Score, ours, score
from rate.simulated.world import world

SEEDS = range(500, 510)

RULES = {"ours": ours, "flip or two episodes": flip_or_two_episodes, "red between green": red_between_green}


@pytest.fixture(scope="module")
def scores() -> dict[str, Score]:
    """Over all seeds, by rule."""
    total = dict.fromkeys(RULES, Score())
    for seed in SEEDS:
        simulated = world(Plan(), seed)
        histories = fleet(simulated)
        for name, rule in RULES.items():
            total[name] += score(simulated, histories, rule(histories))
    return total


def test_the_simulated_histories_are_what_the_reference_counts_from_the_same_attempts() -> None:
    small = world(Plan(builds=60, tests=20, bad_commits=8, lost=0.1), seed=7)
    assert fleet(small) == runs.fleet(list(records(small)))


def test_the_simulation_holds_enough_of_everything(scores) -> None:
    assert scores["ours"].regressions > 800
    assert scores["ours"].relanded > 80
    assert scores["ours"].visible > 300


def test_no_regression_is_called_flaky(scores) -> None:
    assert scores["ours"].excused == 0


def test_a_bad_commit_that_came_twice_and_said_the_same_is_the_known_exception(scores) -> None:
    """Nothing in a history tells it from a flake; it is counted apart."""
    assert 0 < scores["ours"].relanded_excused < 0.3 * scores["ours"].relanded


def test_what_is_called_flaky_is_flaky(scores) -> None:
    assert scores["ours"].precision >= 0.99


def test_flakes_that_show_themselves_are_found(scores) -> None:
    assert scores["ours"].recall >= 0.93


@pytest.mark.parametrize("rule", ["flip or two episodes", "red between green"])
def test_rules_that_are_known_to_be_bad_call_regressions_flaky_here(rule, scores) -> None:
    assert scores[rule].excused >= 40
    assert scores[rule].precision < 0.92
