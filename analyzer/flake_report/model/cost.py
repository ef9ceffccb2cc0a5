"""What failures that were no regression cost: machine time, and money where prices are known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .rate import Variant


@dataclass(frozen=True, slots=True)
class SpentJob:
    """A job that failed or that retried another; `order` is its build's place, `seconds` None where it never said.

    `signature` is what its log blames on the environment, empty for nothing; `retry_of` the id of the job retried.
    """

    job: str
    order: int
    queue: str
    seconds: float | None
    failed: bool
    died: bool
    canceled: bool = False
    retry_of: str | None = None
    signature: str = ""


class JobFailure(NamedTuple):
    """A variant that failed in a job; `victim`: the environment failed it."""

    job: str
    order: int
    variant: Variant
    signature: str
    fingerprint: str
    victim: bool


class LossBy(StrEnum):
    """What losses are added up over."""

    SIGNATURE = "signature"
    TEST = "test"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True)
class Loss:
    """GPU-hours of one name, in failed jobs and in their retries, and what they cost; None without any price."""

    by: LossBy
    name: str
    failed_hours: float
    retry_hours: float
    money: float | None = None

    @property
    def hours(self) -> float:
        """Both together."""
        return self.failed_hours + self.retry_hours


@dataclass(frozen=True, slots=True)
class Cost:
    """All that was lost, and by whom: the losses by each of signature, test and queue add up to the whole.

    `unpriced_hours` are those of queues without a price: `money` leaves them out. `untimed` jobs never said how long
    they ran. `regressions` are failed jobs that are not counted: some failure in them may be the code's own.
    """

    failed_jobs: int
    retries: int
    failed_hours: float
    retry_hours: float
    money: float | None
    unpriced_hours: float
    untimed: int
    regressions: int
    losses: tuple[Loss, ...]

    @property
    def hours(self) -> float:
        """GPU-hours lost."""
        return self.failed_hours + self.retry_hours
