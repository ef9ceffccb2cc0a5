"""What a bucket costs a store, beside a folder with the same rows: `python tests/bench/bench_bucket.py [WEEKS [JOBS]]`.

A real S3 server (moto's) on the loopback interface, slowed to 20 ms a request, as a bucket in the same region is. Each
question is asked three times in a process of its own; the middle one is printed, then the ratio.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import requests

from flake_report.model.evidence import Build, Job, JobState, LogMode
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome, TestId
from flake_report.store import Store

ATTEMPTS = 5_000  # of a job
DELAY = "0.02"  # seconds a request
ASK = """
import sys, time
from flake_report.model.query import Query
from flake_report.store import Store
begun = time.perf_counter()
Store.open(sys.argv[1]).histories(Query())
print(time.perf_counter() - begun)
"""


def record(week: int, number: int) -> JobRecord:
    at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(weeks=week, hours=number)
    key = week * 100 + number
    build = Build("acme", "ci", str(key), key, f"c{key}", "main", "webhook", at, "passed")
    job = Job(
        id=f"job-{key}", step="unit", label="Unit", queue="gpu", agent="a", host="h", state=JobState.PASSED,
        exit_status=0, signal_reason="", soft_failed=False, attempt=0, retry_type=None, retry_of=None, shard="",
        started_at=at, finished_at=at, command="pytest",
    )  # fmt: skip
    attempts = tuple(
        ClassifiedAttempt(
            Attempt(TestId("v1.test_x", f"test_{at}"), Outcome.FAILED if (at + key) % 499 == 0 else Outcome.PASSED)
        )
        for at in range(ATTEMPTS)
    )
    return JobRecord(build, job, attempts, (), (), (), ("report",), (), LogMode.ALL, Versions("1", "1", "1"))


def seconds(path: str) -> float:
    asked = [subprocess.run([sys.executable, "-c", ASK, path], capture_output=True, check=True) for _ in range(3)]
    return statistics.median(float(done.stdout) for done in asked)


def main(weeks: int = 8, jobs: int = 6) -> None:
    program = Path(__file__).parent.parent / "store" / "s3_server.py"
    environment = {**os.environ, "S3_SERVER_DELAY": DELAY}
    command = [sys.executable, str(program)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server,
        tempfile.TemporaryDirectory() as at,
    ):
        assert server.stdout is not None
        address = f"http://127.0.0.1:{server.stdout.readline().decode().strip()}"
        requests.put(f"{address}/bucket", timeout=10).raise_for_status()
        os.environ |= {
            "AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything", "AWS_EC2_METADATA_DISABLED": "true",
        }  # fmt: skip
        took = {}
        for path in (f"{at}/store", "s3://bucket/store"):
            store = Store.create_or_open(path)
            for week in range(weeks):
                store.ingest(record(week, number) for number in range(jobs))
            took[path] = seconds(path)
            print(f"{path}: {weeks * jobs * ATTEMPTS:,} attempts in {weeks} commits, histories in {took[path]:.2f} s")
        folder, bucket = took.values()
        print(f"bucket / folder: {bucket / folder:.2f}")
        server.kill()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
