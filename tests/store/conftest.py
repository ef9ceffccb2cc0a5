"""Makers of job records, each with what a test does not care about filled in."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from flake_report.model.evidence import Build, Job, JobState, LogMode
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome, TestId
from flake_report.store import Store

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)


def make_build(number: int | None = 1, **fields: Any) -> Build:
    """Build 1 is created on Monday, every later one a day after the one before."""
    given = {
        "org": "acme",
        "pipeline": "ci",
        "key": str(number),
        "number": number,
        "commit": f"c{number}",
        "branch": "main",
        "source": "webhook",
        "created_at": MONDAY + timedelta(days=(number or 1) - 1),
        "state": "passed",
    }
    return Build(**{**given, **fields})


def make_job(name: str = "job", **fields: Any) -> Job:
    given = {
        "id": name,
        "step": "unit",
        "label": ":pytest: Unit",
        "queue": "gpu_1",
        "agent": "agent-1",
        "host": "host-1",
        "state": JobState.PASSED,
        "exit_status": 0,
        "signal_reason": "",
        "soft_failed": False,
        "attempt": 0,
        "retry_type": None,
        "retry_of": None,
        "shard": "",
        "started_at": None,
        "finished_at": None,
        "command": "pytest",
    }
    return Job(**{**given, **fields})


def make_attempt(
    name: str, outcome: Outcome = Outcome.PASSED, *, signature: str = "", blame: str = "", **fields: Any
) -> ClassifiedAttempt:
    return ClassifiedAttempt(Attempt(TestId("v1.test_x", name), outcome, **fields), signature, blame)


def make_record(build: Build, job: Job, *attempts: ClassifiedAttempt, **fields: Any) -> JobRecord:
    given = {
        "causes": (),
        "memory": (),
        "engines": (),
        "sources": ("report",) if attempts else (),
        "warnings": (),
        "mode": LogMode.ALL,
        "versions": Versions("parser-1", "signatures-1", "fingerprint-1"),
    }
    return JobRecord(build=build, job=job, attempts=attempts, **{**given, **fields})


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """`make.build`, `make.job`, `make.attempt`, `make.record`."""
    return SimpleNamespace(build=make_build, job=make_job, attempt=make_attempt, record=make_record, monday=MONDAY)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create_or_open(str(tmp_path / "store"))


@pytest.fixture
def rows(store: Store) -> Callable[..., list[Any]]:
    """Rows of a table that people see: the named columns, sorted."""

    def read(table: str, *columns: str) -> list[Any]:
        found = store.table(table).project(", ".join(f'"{column}"' for column in columns)).fetchall()
        return sorted(row[0] if len(columns) == 1 else row for row in found)

    return read


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A real S3 server with one bucket called `bucket`: its `address`, and what it `told` of writes to Delta's log."""
    log = tmp_path_factory.mktemp("s3") / "log"
    program = Path(__file__).with_name("s3_server.py")
    with log.open("w") as out, subprocess.Popen([sys.executable, program], stdout=out) as process:
        try:
            while "\n" not in log.read_text():
                assert process.poll() is None
                time.sleep(0.05)
            address = f"http://127.0.0.1:{log.read_text().split()[0]}"
            requests.put(f"{address}/bucket", timeout=10).raise_for_status()
            yield SimpleNamespace(address=address, told=lambda: log.read_text().splitlines()[1:])
        finally:
            process.kill()


@pytest.fixture
def bucket(s3_server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty folder in that bucket; the environment holds the server's address and (any) credentials."""
    for name, value in {
        "AWS_ENDPOINT_URL": s3_server.address,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "anybody",
        "AWS_SECRET_ACCESS_KEY": "anything",
    }.items():
        monkeypatch.setenv(name, value)
    return f"s3://bucket/{uuid.uuid4().hex}/store"
