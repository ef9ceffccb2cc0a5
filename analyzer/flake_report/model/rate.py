"""What is counted and what follows from it: runs, verdicts, rates with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

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
    """One variant in one build; the fields that a plain pass leaves empty are empty.

    `first_failed`: the first own attempt failed. `retried`: it failed first and had another own attempt.
    `recovered`: one of those passed. `victim`: some attempt failed by the environment, whatever the verdict.
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


@dataclass(frozen=True, slots=True)
class Passes:
    """Plain passes of one variant that follow each other, counted: every attempt its own, and the first one passed."""

    first_order: int
    last_order: int
    count: int


@dataclass(frozen=True, slots=True)
class History:
    """One variant over builds, oldest first: each run that is not a plain pass, and the passes between, counted.

    `order` is the build's place on its branch; runs and passes never overlap.
    """

    variant: Variant
    runs: tuple[Run, ...]
    passes: tuple[Passes, ...]


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
