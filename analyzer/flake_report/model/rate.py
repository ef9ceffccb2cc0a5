"""What is counted and what follows from it: runs, verdicts, rates with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from .evidence import RetryType
from .results import TestId


class RunVerdict(StrEnum):
    """What one variant did in one build, over all its attempts."""

    PASSED = "passed"
    VICTIM = "victim"
    FLAKY = "flaky"
    FAILED = "failed"
    SKIPPED = "skipped"
    LOST = "lost"


@dataclass(frozen=True, slots=True, order=True)
class Variant:
    """A test where and how it runs: rates are counted for this."""

    test: TestId
    step: str
    queue: str
    session: str


@dataclass(frozen=True, slots=True)
class Run:
    """One variant in one build: a run that is neither a plain pass nor only skipped.

    Own attempts ended by themselves: they were not skipped, failed by no environment, and their job did not die.
    `first_failed`: the first own attempt failed. `retried`: it failed first and had another own attempt.
    `recovered`: one of those passed. `victim`: some attempt failed by the environment, whatever the verdict.
    `fingerprint` and `signature` are the first ones found among the own failures, where there is none among the
    victims; `agent` is where that failure happened, else where the run began. `retry_type`: who asked for the job
    retry that gave the test another attempt; None where only its session, or nobody, ran it again.
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


@dataclass(frozen=True, slots=True)
class Streak:
    """Runs of one variant that went the same plain way between two neighbouring told runs, counted.

    `first_order` and `last_order` are the orders of the first and the last of them.
    """

    first_order: int
    last_order: int
    count: int


@dataclass(frozen=True, slots=True)
class History:
    """One variant over builds, oldest first: each run that needs telling, and the plain runs between, counted.

    `order` is the build's place among the selected builds, from 0: within a pipeline by number. `passes` are runs
    with a pass, no failure, and no attempt in a job that died; `skips` are runs that were only skipped. No streak
    reaches over a told run; passes and skips may interleave.
    """

    variant: Variant
    runs: tuple[Run, ...]
    passes: tuple[Streak, ...]
    skips: tuple[Streak, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate of a probability with its 95 % interval; `n` is what it rests on."""

    n: int
    hits: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class FlakeRate:
    """One variant's two rates, side by side, and what mostly failed.

    `own` is the first-attempt failure rate p: runs whose first own attempt failed / runs with an own attempt.
    `environment` is e: runs with a victim attempt / runs. `rank_low` is the Clopper-Pearson lower bound of p.
    """

    variant: Variant
    own: Interval
    environment: Interval
    rank_low: float
    signature: str
