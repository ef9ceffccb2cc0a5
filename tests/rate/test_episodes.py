"""Failures along branches: what a branch broke is no flake, whatever is built in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from flake_report.model.rate import Fleet
from flake_report.model.verdict import TestVerdict
from flake_report.rate.episodes import Episode, episodes
from flake_report.rate.lines import Lines, line_of
from flake_report.rate.rates import flake_rates
from flake_report.rate.segments import parted

BUILDS, BRANCHES = 120, 12


def on(history: Fleet, branches: list[str]) -> Fleet:
    """The same history with each build on its branch."""
    builds = [replace(build, branch=branch) for build, branch in zip(history.builds, branches, strict=True)]
    return replace(history, builds=tuple(builds))


def streaks(history: Fleet) -> list[tuple[list[int], bool, bool]]:
    """Of each episode its builds, whether it is over, and whether it is the newest."""
    (parts,) = parted(history)
    (pool,) = history.pools
    found: list[Episode] = episodes(parts, Lines([line_of(build) for build in history.builds], pool.orders))
    return [([run.order for run in one.runs], one.over, one.newest) for one in found]


def test_a_pass_ends_the_episode_of_its_own_branch_alone(fleet) -> None:
    history = on(fleet("F", "P", "F", "P", "F"), ["pr", "main", "pr", "pr", "main"])
    assert streaks(history) == [([0, 2], True, False), ([4], False, True)]


def test_a_streak_of_passes_ends_the_episodes_of_all_branches_that_it_meets(fleet) -> None:
    history = on(fleet("F", "F", "F", "P", "P", "P"), ["main", "pr-1", "pr-2", "main", "pr-2", "main"])
    assert streaks(history) == [([0], True, False), ([1], False, False), ([2], True, False)]


def test_a_flaky_run_ends_an_episode_and_a_victim_does_not(fleet) -> None:
    assert streaks(fleet("P", "F", "FP", "F", "V", "F", "P")) == [([1], True, False), ([3, 5], True, False)]


def changed(fleet: Callable[..., Fleet], random: np.random.Generator, flake: float) -> Fleet:
    """Two builds in five are main's. One branch in three breaks the test for its first few builds, all alike."""
    branches = [
        "main" if random.random() < 0.4 else f"pr-{random.integers(at * BRANCHES // BUILDS, BRANCHES)}"
        for at in range(BUILDS)
    ]
    left = {f"pr-{nth}": int(random.integers(1, 7)) for nth in range(BRANCHES) if random.random() < 0.35}
    spelled = []
    for branch in branches:
        broken = left.get(branch, 0) > 0
        left[branch] = left.get(branch, 0) - 1
        spelled.append("F" if broken or (branch == "main" and random.random() < flake) else "P")
    return on(fleet(*spelled), branches)


@pytest.fixture(scope="module")
def only_broken(fleet) -> list[Fleet]:
    random = np.random.default_rng(21)
    return [changed(fleet, random, 0.0) for _ in range(60)]


def verdicts(histories: list[Fleet]) -> list[TestVerdict]:
    return [rate.verdict for history in histories for rate in flake_rates(history, budget=0.005)]


def test_what_branches_broke_is_never_called_flaky(only_broken) -> None:
    assert TestVerdict.FLAKY not in verdicts(only_broken)


def test_if_all_builds_were_taken_for_one_branch_most_of_it_would_be(only_broken) -> None:
    as_one = [on(history, ["main"] * BUILDS) for history in only_broken]
    assert verdicts(as_one).count(TestVerdict.FLAKY) > 0.5 * len(as_one)


def test_a_flake_on_the_main_branch_is_found_all_the_same(fleet) -> None:
    """At 10 % of 48 builds; what fails in two builds of main in a row is no lone failure, so some are missed."""
    random = np.random.default_rng(22)
    found = verdicts([changed(fleet, random, 0.1) for _ in range(60)])
    assert found.count(TestVerdict.FLAKY) > 0.9 * len(found)
