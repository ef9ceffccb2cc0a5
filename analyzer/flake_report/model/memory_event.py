"""GPU-memory events over builds: what the store knows of each, and what they add to the newest one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from .failure import Captured


class RetryEnd(StrEnum):
    """How the retry of a job ended: it passed, it met the same failure, it failed by something else."""

    PASSED = "passed"
    AGAIN = "again"
    OTHERWISE = "otherwise"


@dataclass(frozen=True, slots=True)
class JobRetry:
    """One retry of a job; `same_agent` says that it ran on the same agent, so mostly on the same card."""

    end: RetryEnd
    same_agent: bool


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """One GPU-memory event as the store has it. `kind` is its diagnosis in its own job, empty where none was made.

    `place` orders builds. `captures` are the error's numbers as printed. `at_start` is what was in use on the
    fullest card as the job began, or the least before any of its tests, in bytes; None where nothing was measured then.
    """

    build: str
    created_at: datetime
    place: int
    job: str
    step: str
    queue: str
    agent: str
    signature: str
    kind: str
    test: str | None = None
    line: int = 0
    captures: Mapping[str, Captured] = field(default_factory=dict)
    at_start: int | None = None
    retries: tuple[JobRetry, ...] = ()


BuildsRun: TypeAlias = Mapping[tuple[str, str, str], tuple[int, ...]]
"""Step, queue and agent to the places of the builds in which their jobs ran to the end, in order."""


@dataclass(frozen=True, slots=True)
class MemoryArchive:
    """All GPU-memory events of a store, oldest first, and the builds in which their agents could have had one."""

    events: tuple[MemoryEvent, ...]
    ran: BuildsRun
