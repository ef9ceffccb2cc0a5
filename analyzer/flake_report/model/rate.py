"""What is counted, runs and streaks, and what follows from it: rates with their intervals, and verdicts.

What there is one of for each variant, or many, are named tuples: a fleet has tens of thousands of variants, and a
frozen dataclass takes several times as long to make and to look up.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .evidence import Build, RetryType
from .results import TestId
from .verdict import Breakage, Segment, TestVerdict


class RunVerdict(StrEnum):
    """What one variant did in one build, over all its attempts."""

    PASSED = "passed"
    VICTIM = "victim"
    FLAKY = "flaky"
    FAILED = "failed"
    SKIPPED = "skipped"
    LOST = "lost"


class Variant(NamedTuple):
    """A test where and how it runs: rates are counted for this."""

    test: TestId
    step: str
    queue: str
    session: str


class Run(NamedTuple):
    """One variant in one build: a run that is neither a plain pass nor only skipped.

    Own attempts ended by themselves: they were not skipped, failed by no environment, and their job did not die.
    `first_failed`: the first own attempt failed. `retried`: it failed first and had another own attempt.
    `recovered`: one of those passed. `victim`: some attempt failed by the environment, whatever the verdict.
    `fingerprint` and `signature` are the first ones found among the own failures, where there is none among the
    victims; `agent` is where that failure happened, else where the run began. `retry_type`: who asked for the job
    retry that gave the test another attempt; None where only its session, or nobody, ran it again. `job` is the id of
    the job in which the failure happened that `agent` names, else of the first job.
    """

    variant: Variant
    build: str
    order: int
    created_at: datetime
    verdict: RunVerdict
    first_failed: bool = False
    retried: bool = False
    recovered: bool = False
    victim: bool = False
    fingerprint: str = ""
    signature: str = ""
    agent: str = ""
    retry_type: RetryType | None = None
    job: str = ""


class Streak(NamedTuple):
    """Runs of one variant that went the same plain way between two neighbouring told runs, counted.

    `first_order` and `last_order` are the orders of the first and the last of them, `runs` how many they are.
    """

    first_order: int
    last_order: int
    runs: int


class History(NamedTuple):
    """One variant over builds, oldest first: each run that needs telling, and the plain runs between, counted.

    `order` is the build's place among the selected builds, from 0: within a pipeline by number. `passes` are runs
    with a pass, no failure, and no attempt in a job that died; `skips` are runs that were only skipped. No streak
    reaches over a told run; passes and skips may interleave. Where there are told runs, all runs of one streak are of
    one week, that of its first build, and streaks of several weeks may interleave: so what was counted by week needs
    no second look at the attempts. `file` is what the results of the test name, of several files the last by name;
    empty where they name none.
    """

    variant: Variant
    runs: tuple[Run, ...]
    passes: tuple[Streak, ...]
    skips: tuple[Streak, ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class Pool:
    """Where jobs ran: a step on a queue; `orders` are the builds in which a job of it counts, in order."""

    step: str
    queue: str
    orders: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fleet:
    """All that a question selects.

    Histories in order of variants, the builds that every `order` points to, the pools in order of names.
    """

    builds: tuple[Build, ...]
    pools: tuple[Pool, ...]
    histories: tuple[History, ...]


class Interval(NamedTuple):
    """An estimate of a probability with its 95 % interval; `n` is what it rests on."""

    n: int
    hits: int
    rate: float
    low: float
    high: float


class Retried(NamedTuple):
    """First-failed runs that had another own attempt, by who asked for it.

    A pass on retry can be compared only between runs with one policy: what people retry by hand looked like a flake
    to them. A run that its session and a job retry repeated counts under the job retry.
    """

    session: int = 0
    automatic: int = 0
    manual: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.session + self.automatic + self.manual


class WeekCount(NamedTuple):
    """One ISO week of a variant: `runs` with an own attempt, those whose first one failed, and runs with a victim.

    Breakages are not taken out: they are what a trend should show.
    """

    week: str
    runs: int
    first_failures: int
    victims: int


class FlakeRate(NamedTuple):
    """One variant: its verdict with the reason, its rates side by side, and what they were taken from.

    `own` is the first-attempt failure rate p: runs whose first own attempt failed / runs with an own attempt, outside
    breakages. `recovery` is first-failed runs that passed on a retry / first-failed runs that were retried, outside
    breakages too, and `retried` says who retried them. `environment` is e: runs with a victim attempt / runs.
    `rank_low` is the Clopper-Pearson lower bound of p. `over_budget` is P(p > budget). `also_flaky`: of a broken test,
    whether it was flaky outside its breakages. `unsteady`: outside them its weeks differ by more than chance, so that
    the interval of p is too narrow for weeks to come. `trend` is by week, oldest first; empty where no run needed
    telling.
    `first_order` and `last_order` are the first and the last build with an own attempt; None where there is none.
    `flakes` are the fingerprints with which it is known to flake. `owner` is empty where nobody is named.
    """

    variant: Variant
    own: Interval
    environment: Interval
    rank_low: float
    signature: str
    verdict: TestVerdict = TestVerdict.UNKNOWN
    reason: str = ""
    recovery: Interval = Interval(0, 0, 0.0, 0.0, 1.0)
    retried: Retried = Retried()
    flaky_runs: int = 0
    over_budget: float = 0.0
    also_flaky: bool = False
    unsteady: bool = False
    segments: tuple[Segment, ...] = ()
    breakages: tuple[Breakage, ...] = ()
    trend: tuple[WeekCount, ...] = ()
    first_order: int | None = None
    last_order: int | None = None
    owner: str = ""
    flakes: frozenset[str] = frozenset()

    @property
    def troubled(self) -> bool:
        """Whether any attempt failed, by the test or by the environment: only then is there something to show."""
        return bool(self.own.hits or self.environment.hits or self.breakages or self.flaky_runs)


class Level(StrEnum):
    """What a roll-up joins."""

    TEST = "test"
    FILE = "file"
    STEP = "step"
    QUEUE = "queue"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class RollUp:
    """First-attempt failures over all variants of one name, outside their breakages.

    `own` counts runs, its interval rests on `effective` of them: runs of one job share a machine and a build, and say
    less than as many that do not. `design_effect` is their ratio before the small-sample factor; `jobs` is how many
    clusters there were, `failing_jobs` in how many of them a run failed: where these are few, the interval is too
    narrow.
    """

    level: Level
    name: str
    variants: int
    own: Interval
    jobs: int
    failing_jobs: int
    design_effect: float
    effective: float
