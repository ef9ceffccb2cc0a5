"""The true nature of each simulated test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .plan import Plan

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BadCommit:
    """One bad commit, in the tests that it breaks, from build `first` to before `end`; `words` tell it from others."""

    words: str
    first: int
    end: int
    tests: NDArray[np.int64]
    again: bool


@dataclass(frozen=True)
class Nature:
    """What tests truly are; arrays are (tests,) or (tests, builds).

    `rate` is the chance that a first attempt fails on good code in each build; `again` that a retry does then. `order`
    is the chance that a job runs the tests in an order that fails this one. `broken` is the bad commit that breaks
    the test in a build, -1 for none.
    """

    rate: Floats
    again: Floats
    order: Floats
    reruns: Flags
    broken: NDArray[np.int64]
    commits: tuple[BadCommit, ...]

    @property
    def flaky(self) -> Flags:
        """Tests that fail now and then on good code."""
        found: Flags = (self.rate > 0).any(axis=1) | (self.order > 0)
        return found


def drawn(plan: Plan, weeks: NDArray[np.int64], random: np.random.Generator) -> Nature:
    """The tests of all steps; `weeks` is the week of each build."""
    tests = plan.tests * plan.steps
    flaky = random.random(tests) < plan.flaky
    low, high = np.log(plan.rates)
    level = np.where(flaky, np.exp(random.uniform(low, high, tests)), 0.0)
    drift = np.exp(random.normal(0, plan.drift, (tests, weeks.max() + 1)))[:, weeks]
    rate = np.minimum(level[:, None] * drift, 0.5) * _present(plan, random, tests)
    order = np.where(~flaky & (random.random(tests) < plan.order_dependent), random.uniform(0.02, 0.3, tests), 0.0)
    commits = _commits(plan, random, tests)
    broken = np.full((tests, plan.builds), -1)
    for at, commit in enumerate(commits):
        broken[commit.tests, commit.first : commit.end] = at
    reruns = random.random(tests) < plan.reruns
    return Nature(rate, random.uniform(*plan.again, tests), order, reruns, broken, commits)


def _present(plan: Plan, random: np.random.Generator, tests: int) -> Flags:
    """The builds in which each flake is there: most always, some from a build on, some up to one."""
    cut = random.integers(plan.builds // 4, plan.builds * 3 // 4, tests)[:, None]
    builds = np.arange(plan.builds)
    kind = random.random(tests)[:, None]
    half = plan.passing_flakes / 2
    present: Flags = np.where(kind < half, builds >= cut, (kind >= 2 * half) | (builds < cut))
    return present


def _commits(plan: Plan, random: np.random.Generator, tests: int) -> tuple[BadCommit, ...]:
    made: list[BadCommit] = []
    for nth in range(plan.bad_commits):
        length = int(np.exp(random.uniform(0, np.log(plan.longest + 1))))
        first = int(random.integers(0, plan.builds))
        broken = random.choice(tests, int(random.integers(1, plan.breaks + 1)), replace=False)
        again = random.random() < plan.relanded
        length = 1 if again and random.random() < 0.5 else length
        made.append(BadCommit(f"bad-{nth}", first, first + length, broken, again))
        if again:
            later = int(random.integers(0, plan.builds))
            made.append(BadCommit(f"bad-{nth}", later, later + int(random.integers(1, 3)), broken, again))
    return tuple(made)
