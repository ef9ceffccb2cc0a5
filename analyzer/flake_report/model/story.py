"""The evidence behind one verdict, run by run."""

from __future__ import annotations

from dataclasses import dataclass

from .evidence import Build, RetryType
from .rate import FlakeRate, History, Interval, Variant
from .results import Outcome


@dataclass(frozen=True, slots=True)
class ToldAttempt:
    """One attempt of a run that needs telling. `order` is its build's place, `died` says that its job was lost.

    `environment`: what its message says makes it a victim. `message` is cut after some lines.
    """

    variant: Variant
    order: int
    job: str
    agent: str
    job_attempt: int
    retry_type: RetryType | None
    died: bool
    outcome: Outcome
    environment: bool
    signature: str
    fingerprint: str
    message: str


@dataclass(frozen=True, slots=True)
class Story:
    """One variant: what is said of it, its history, and the attempts of the runs that need telling, in order.

    `weeks` is the first-attempt failure rate of each week of the rate's `trend`, with its interval.
    """

    rate: FlakeRate
    history: History
    attempts: tuple[ToldAttempt, ...]
    weeks: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Stories:
    """The variants that were asked for, worst first; `builds` are what every order points to."""

    asked: str
    budget: float
    builds: tuple[Build, ...]
    stories: tuple[Story, ...]
