"""What the world gave us: a build, a job, and the files that the job left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum


class JobState(StrEnum):
    """How a job ended, in Buildkite's words; a state that is not one of these reads as UNKNOWN."""

    PASSED = "passed"
    FAILED = "failed"
    CANCELED = "canceled"
    TIMED_OUT = "timed_out"
    EXPIRED = "expired"
    BROKEN = "broken"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, _value: object) -> JobState:
        return cls.UNKNOWN


class RetryType(StrEnum):
    """Who asked for the retry."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"


class LogMode(StrEnum):
    """Which jobs' logs and reports were collected: with failed jobs alone there is no denominator."""

    ALL = "all"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Blob:
    """A file that can be read any number of times, decompressed, in chunks.

    `name` is what a person would call it: a path below its job, or the argument on the command line.
    `read` raises `FlakeReportError` where the file cannot be read.
    """

    name: str
    read: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Build:
    """One build of one pipeline. Order on a branch is by `number`, then `created_at`.

    `key` names the build in the store: Buildkite's number as text, or a hash where there is none.
    """

    org: str
    pipeline: str
    key: str
    number: int | None
    commit: str
    branch: str
    source: str
    created_at: datetime
    state: str

    @property
    def week(self) -> str:
        """The ISO week that the build and all that belongs to it are counted in."""
        return iso_week(self.created_at)

    @property
    def label(self) -> str:
        """What people call it: `build 812`; one without a number by its time, to the minute in UTC."""
        if self.number is not None:
            return f"build {self.number}"
        created = self.created_at.astimezone(UTC) if self.created_at.tzinfo else self.created_at
        return f"build of {created:%Y-%m-%d %H:%M}"


def iso_week(moment: datetime) -> str:
    """The ISO week in UTC: `2026-W48`. A naive time is taken as UTC."""
    year, number, _ = (moment.astimezone(UTC) if moment.tzinfo else moment).isocalendar()
    return f"{year:04d}-W{number:02d}"


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `attempt` counts retries from 0; `retry_of` is the id of the job that this one retried.

    `step` tells steps apart over builds: the step key, else the label without emoji and shard suffix.
    `exit_status` is -1 for a lost agent, None where the job never said. `queue` and `agent` are empty when unknown.
    """

    id: str
    step: str
    label: str
    queue: str
    agent: str
    host: str
    state: JobState
    exit_status: int | None
    signal_reason: str
    soft_failed: bool
    attempt: int
    retry_type: RetryType | None
    retry_of: str | None
    shard: str
    started_at: datetime | None
    finished_at: datetime | None
    command: str

    @property
    def died(self) -> bool:
        """Whether the job did not end by itself: lost, stopped, refused, cancelled, out of time.

        What its tests did until then says nothing of them.
        """
        return self.exit_status == -1 or bool(self.signal_reason) or self.state in _DIED


_DIED = frozenset({JobState.CANCELED, JobState.TIMED_OUT, JobState.EXPIRED})


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that one job left: result files and log, unread."""

    build: Build
    job: Job
    reports: tuple[Blob, ...]
    log: Blob | None
    mode: LogMode = LogMode.ALL
