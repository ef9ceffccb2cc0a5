"""What of each job shall be in the archive, and what the archive remembers of each look at a build.

The memory is `collected.json.zst` in the build's folder. Buildkite's own fields cannot serve: a build's object holds
counters and agents' states that change although nothing of the build did.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flake_report.model.evidence import JobState, LogMode

from .layout import ADDED
from .wire import Payload

LOOK_FILE = "collected.json.zst"

_BUILD_FIELDS = ("id", "state", "blocked", "started_at", "finished_at")
_JOB_FIELDS = ("id", "state", "exit_status", "soft_failed", "finished_at", "retried_in_job_id")
_ENDED_BUILDS = frozenset({"passed", "failed", "canceled", "skipped", "not_run", "blocked"})
_ENDED_JOBS = frozenset(JobState) - {JobState.UNKNOWN}
_IDLE_JOBS = frozenset({"pending", "waiting", "waiting_failed", "blocked", "blocked_failed", "unblocked_failed"})
_GREEN = (JobState.PASSED, JobState.SKIPPED, JobState.BROKEN)


@dataclass(frozen=True, slots=True)
class Asked:
    """Of which jobs logs and artifacts are wanted, and which artifacts, by their paths."""

    logs: LogMode
    artifacts: tuple[str, ...]

    def covers(self, other: Asked) -> bool:
        """Whether a job that was kept for this one has all that `other` wants."""
        return self.logs in (LogMode.ALL, other.logs) and set(self.artifacts) >= set(other.artifacts)

    def wants(self, job: Payload) -> bool:
        """Whether this job's log and artifacts are wanted: it ran, and it failed or all are."""
        return bool(job.get("started_at")) and (self.logs is LogMode.ALL or _state(job) not in _GREEN)

    def joined(self, other: Asked) -> Asked:
        """The least that covers both."""
        logs = LogMode.ALL if LogMode.ALL in (self.logs, other.logs) else LogMode.FAILED
        return Asked(logs, tuple(dict.fromkeys((*self.artifacts, *other.artifacts))))

    def written(self) -> dict[str, Any]:
        """As it stands in the archive."""
        return {"logs": self.logs.value, "artifacts": list(self.artifacts)}

    @classmethod
    def read(cls, value: object) -> Asked | None:
        """As it was written; None for anything else."""
        if not isinstance(value, Mapping) or value.get("logs") not in list(LogMode):
            return None
        paths = value.get("artifacts")
        return cls(LogMode(value["logs"]), tuple(str(path) for path in paths) if isinstance(paths, list) else ())

    @classmethod
    def of_job(cls, job: Payload) -> Asked | None:
        """What was wanted when this job was kept; None where that was not written down."""
        return cls.read(job.get(ADDED))


@dataclass(frozen=True, slots=True)
class Look:
    """The last whole look at a build. `settled`: nothing of it was running, and everything wanted was kept."""

    build: str
    jobs: str
    asked: Asked | None
    settled: bool

    def still_holds(self, build: Payload, asked: Asked) -> bool:
        """Whether a build as it is listed now needs no other look."""
        jobs = build.get("jobs")
        same_jobs = not isinstance(jobs, list) or self.jobs == digest_of_jobs(jobs)
        return self.settled and self.trusts(asked) and self.build == digest_of_build(build) and same_jobs

    def trusts(self, asked: Asked) -> bool:
        """Whether every complete job of the build has all that is wanted."""
        return self.asked is not None and self.asked.covers(asked)

    def written(self) -> dict[str, Any]:
        """As it stands in the archive."""
        asked = self.asked.written() if self.asked else None
        return {"build": self.build, "jobs": self.jobs, "asked": asked, "settled": self.settled}

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Look:
        """As it was written; a damaged one holds for nothing."""
        asked = Asked.read(value.get("asked"))
        return cls(str(value.get("build")), str(value.get("jobs")), asked, value.get("settled") is True)


def look_at(build: Payload, jobs: Iterable[Payload], asked: Asked | None) -> Look:
    """What to remember of a build and all its jobs; `asked` is None where something wanted could not be kept."""
    rows = list(jobs)
    still = _state(build) in _ENDED_BUILDS and all(
        _state(job) in _ENDED_JOBS | _IDLE_JOBS for job in rows if is_command(job)
    )
    return Look(digest_of_build(build), digest_of_jobs(rows), asked, settled=still and asked is not None)


def is_command(job: Payload) -> bool:
    """Whether a job runs something; waits, blocks and triggers leave nothing."""
    return bool(job.get("type", "script") == "script")


def has_ended(job: Payload) -> bool:
    """Whether nothing of this job will change any more, apart from being retried by another one."""
    return _state(job) in _ENDED_JOBS


def digest_of_build(build: Payload) -> str:
    """Changes when anything happens to the build; without a look at its jobs."""
    return _digest([build.get(name) for name in _BUILD_FIELDS])


def digest_of_jobs(jobs: Iterable[Payload]) -> str:
    """Changes when a job is added, ends or is retried."""
    return _digest(sorted(json.dumps([job.get(name) for name in _JOB_FIELDS]) for job in jobs))


def _state(payload: Payload) -> str:
    return str(payload.get("state"))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
