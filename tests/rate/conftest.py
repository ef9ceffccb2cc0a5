"""Histories in shorthand: a letter an attempt, `|` between a job and its retry, `!` after a job that died."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from flake_report.model.evidence import Build, Job, JobState, LogMode, RetryType
from flake_report.model.rate import Fleet, History
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome, TestId
from flake_report.rate import runs

TEST = TestId("v1.test_x", "test_y")
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)

LETTERS = {
    "P": (Outcome.PASSED, "", "", ""),
    "X": (Outcome.XFAILED, "", "", ""),
    "S": (Outcome.SKIPPED, "", "", ""),
    "F": (Outcome.FAILED, "assert 1 == 2", "assertion", "test"),
    "C": (Outcome.CRASHED, "worker died", "", ""),
    "w": (Outcome.FAILED, "", "", ""),  # wordless: run again, and the report kept no message
    "V": (Outcome.FAILED, "Free memory on device", "gpu-memory", "gpu-memory"),
}


def attempt(letter: str, number: int) -> ClassifiedAttempt:
    outcome, message, signature, blame = LETTERS[letter]
    return ClassifiedAttempt(
        Attempt(TEST, outcome, number, message=message, fingerprint=f"print-{letter}" if message else ""),
        signature,
        blame,
    )


def records(spelled: str, number: int) -> list[JobRecord]:
    """The jobs of one build: `wV|P` failed twice and passed on a job retry."""
    build = Build(
        "acme", "ci", str(number), number, f"c{number}", "main", "webhook", MONDAY + timedelta(hours=number), "failed"
    )
    made = []
    for retry, letters in enumerate(spelled.split("|")):
        died = letters.endswith("!")
        job = Job(
            id=f"{number}-{retry}",
            step="unit",
            label="Unit",
            queue="gpu_1",
            agent=f"agent-{retry}",
            host="",
            state=JobState.FAILED,
            exit_status=-1 if died else 1,
            signal_reason="",
            soft_failed=False,
            attempt=retry,
            retry_type=RetryType.AUTOMATIC if retry else None,
            retry_of=f"{number}-{retry - 1}" if retry else None,
            shard="",
            started_at=None,
            finished_at=None,
            command="pytest",
        )
        attempts = tuple(attempt(letter, at) for at, letter in enumerate(letters.rstrip("!")))
        versions = Versions("p", "s", "f")
        made.append(JobRecord(build, job, attempts, (), (), (), ("report",), (), LogMode.ALL, versions))
    return made


@pytest.fixture(scope="session")
def job_records() -> Callable[..., list[JobRecord]]:
    """The jobs of builds that are spelled out, oldest first."""
    return lambda *builds: [record for at, build in enumerate(builds) for record in records(build, at)]


@pytest.fixture(scope="session")
def history() -> Callable[..., History]:
    """The one history of builds that are spelled out, oldest first."""

    def counted(*builds: str) -> History:
        (only,) = runs.histories([record for at, build in enumerate(builds) for record in records(build, at)])
        return only

    return counted


@pytest.fixture(scope="session")
def fleet() -> Callable[..., Fleet]:
    """The same with its builds and pools; build n of the history has number n, from 0."""

    def counted(*builds: str) -> Fleet:
        return runs.fleet([record for at, build in enumerate(builds) for record in records(build, at)])

    return counted


@pytest.fixture(scope="session")
def recorded() -> Callable[[str, int], list[JobRecord]]:
    """The job records of one build that is spelled out."""
    return records
