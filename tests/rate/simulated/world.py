"""A simulated history: what every attempt of every test did, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from flake_report.model.evidence import Build

from .nature import Flags, Nature, drawn
from .plan import BUILD_EVERY, FIRST_DAY, POLICIES, Plan, Policy

Causes = NDArray[np.int8]


class Cause(IntEnum):
    """Why an attempt ended as it did; from FLAKE on it failed."""

    PASS = 0
    SKIP = 1
    FLAKE = 2
    ORDER = 3
    BROKEN = 4
    AGENT = 5
    VICTIM = 6


@dataclass(frozen=True)
class Tried:
    """One attempt: `job` is 0, or 1 for the job's retry; `died` says that the job was lost before it ended."""

    job: int
    cause: Cause
    died: bool = False


@dataclass(frozen=True)
class Jobs:
    """The jobs of one step, one a build; arrays are (builds,). `retry` is 0, 1 by the policy, 2 by hand."""

    policy: Policy
    agent: NDArray[np.int64]
    other: NDArray[np.int64]
    died: Flags
    absent: Flags
    retry: NDArray[np.int8]

    def where(self, build: int, job: int) -> str:
        """The agent of a job, or of its retry."""
        return f"agent-{self.other[build] if job else self.agent[build]}"


@dataclass(frozen=True)
class Step:
    """One step; causes are (tests, builds): of the first attempt, of its rerun, and the same in the job's retry."""

    jobs: Jobs
    first: Causes
    rerun: Causes
    second: Causes
    second_rerun: Causes

    def told(self) -> Flags:
        """Runs that are not plainly passed, skipped or absent."""
        retried = self.jobs.retry > 0
        failed = (
            (self.first > Cause.SKIP)
            | (retried & (self.second > Cause.SKIP))
            | (self.jobs.died & (self.first != Cause.SKIP))
        )
        told: Flags = failed & ~self.jobs.absent
        return told

    def attempts(self, test: int, build: int, *, reruns: bool) -> Iterator[Tried]:
        """All attempts of one run, in order."""
        died = bool(self.jobs.died[build])
        yield from _session(0, self.first[test, build], self.rerun[test, build], died=died, reruns=reruns)
        if self.jobs.retry[build]:
            yield from _session(1, self.second[test, build], self.second_rerun[test, build], died=False, reruns=reruns)


@dataclass(frozen=True)
class Words:
    """What failures say. `said` is the flake's message, -1 where none is left: (tests, builds, job or its retry).

    `alike`: a bad commit on this test fails in the words of its flake.
    """

    said: NDArray[np.int64]
    alike: Flags


@dataclass(frozen=True)
class World:
    """A whole history; the tests of step s are rows s * plan.tests and on of `nature`."""

    plan: Plan
    nature: Nature
    builds: tuple[Build, ...]
    steps: tuple[Step, ...]
    spoilt: Flags
    """Tests that a bad agent failed without a word that a signature knows: on this pool they are flaky."""
    words: Words


def world(plan: Plan, seed: int) -> World:
    """The history of this seed."""
    random = np.random.default_rng(seed)
    builds = tuple(_build(at) for at in range(plan.builds))
    _, weeks = np.unique([build.week for build in builds], return_inverse=True)
    nature = drawn(plan, weeks, random)
    steps = tuple(
        _step(plan, nature, slice(at * plan.tests, (at + 1) * plan.tests), POLICIES[at % 2], random)
        for at in range(plan.steps)
    )
    spoilt = np.concatenate([_spoilt(step) for step in steps])
    return World(plan, nature, builds, steps, spoilt, _words(plan, nature, random))


def _build(at: int) -> Build:
    created = FIRST_DAY + BUILD_EVERY * at
    return Build("acme", "ci", str(at), at, f"c{at:04}", "main", "webhook", created, "failed")


def _words(plan: Plan, nature: Nature, random: np.random.Generator) -> Words:
    shape = (*nature.rate.shape, 2)
    said = random.choice(len(plan.messages), shape, p=plan.messages)
    said[random.random(shape) < plan.wordless] = -1
    return Words(said, nature.flaky & (random.random(shape[0]) < plan.worded))


def _session(job: int, first: int, rerun: int, *, died: bool, reruns: bool) -> Iterator[Tried]:
    yield Tried(job, Cause(first), died)
    if reruns and first > Cause.SKIP:
        yield Tried(job, Cause(rerun), died)


def _step(plan: Plan, nature: Nature, tests: slice, policy: Policy, random: np.random.Generator) -> Step:
    shape = (plan.tests, plan.builds)
    agent = random.integers(0, plan.agents, plan.builds)
    other = (agent + random.integers(1, plan.agents, plan.builds)) % plan.agents
    spells = [_spell(plan, random) for _ in range(plan.bad_agents)]
    rate, again, order = nature.rate[tests], nature.again[tests, None], nature.order[tests, None]
    broken, reruns = nature.broken[tests] >= 0, nature.reruns[tests, None]
    died, absent = random.random(plan.builds) < plan.lost, random.random(plan.builds) < plan.no_results

    def attempt(chance: NDArray[np.float64], misplaced: Flags, struck: Causes) -> Causes:
        made = np.where(random.random(shape) < chance, Cause.FLAKE, Cause.PASS)
        made = np.where(misplaced, Cause.ORDER, made)
        made = np.where(struck > 0, struck, made)
        return np.where(broken, Cause.BROKEN, made).astype(np.int8)

    def after(before: Causes, struck: Causes, misplaced: Flags) -> Causes:
        chance = np.where(before == Cause.FLAKE, again, rate)
        return attempt(chance, misplaced, struck)

    misplaced = random.random(shape) < order
    first = attempt(rate, misplaced, _struck(spells, agent, shape, random))
    first[random.random(shape) < plan.skipped] = Cause.SKIP
    rerun = after(first, np.where(first >= Cause.AGENT, first, 0).astype(np.int8), misplaced)
    red = (np.where(reruns & (first > Cause.SKIP), rerun, first) > Cause.SKIP).any(axis=0)
    by_hand = random.random(plan.builds) < policy.manual
    retry = np.where(died | (policy.automatic & red), 1, np.where(red & by_hand, 2, 0)).astype(np.int8)
    elsewhere = random.random(shape) < order
    second = after(first, _struck(spells, other, shape, random), elsewhere)
    second[first == Cause.SKIP] = Cause.SKIP
    second_rerun = after(second, np.where(second >= Cause.AGENT, second, 0).astype(np.int8), elsewhere)
    return Step(Jobs(policy, agent, other, died, absent, retry), first, rerun, second, second_rerun)


@dataclass(frozen=True)
class Spell:
    """A stretch of builds in which one agent fails a share of the runs of some tests."""

    agent: int
    begin: int
    end: int
    share: float
    cause: Cause
    tests: Flags


def _spell(plan: Plan, random: np.random.Generator) -> Spell:
    known = random.random() < plan.recognised
    begin = int(random.integers(0, plan.builds))
    return Spell(
        agent=int(random.integers(0, plan.agents)),
        begin=begin,
        end=begin + 40,
        share=float(random.uniform(0.02, 0.3)),
        cause=Cause.VICTIM if known else Cause.AGENT,
        tests=random.random(plan.tests) < (1 if known else plan.exposed),
    )


def _struck(
    spells: list[Spell], agent: NDArray[np.int64], shape: tuple[int, int], random: np.random.Generator
) -> Causes:
    made = np.zeros(shape, dtype=np.int8)
    builds = np.arange(shape[1])
    for spell in spells:
        there = (agent == spell.agent) & (spell.begin <= builds) & (builds < spell.end) & spell.tests[:, None]
        made[there & (random.random(shape) < spell.share)] = spell.cause
    return made


def _spoilt(step: Step) -> Flags:
    spoilt: Flags = ((step.first == Cause.AGENT) | (step.second == Cause.AGENT)).any(axis=1)
    return spoilt
