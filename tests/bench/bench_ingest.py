"""How fast results come into a store: many at once from an archive, and one build after the other.

    .venv/bin/python tests/bench/bench_ingest.py [--jobs 40] [--cases 5000] [--rounds 3]
                                                 [--builds 1000] [--attempts 1000]

Bulk: an archive of JUnit reports as pytest writes them (one in twenty cases failed, with a traceback), compressed, with
a short log; all of it on one core, from opening the archive to the last commit, after one small ingest has loaded what
a process loads once. Beside it, on the same core: reading the same reports into records without storing them, and
DuckDB reading rows of the same number into a table of its own.

One at a time: each build is one job, and each ingest opens the store anew, as the command does; merging and
checkpoints are in. Beside it `write_deltalake` adds the same rows to a bare table partitioned alike. Means of the first
and the last hundred are compared.

Times are processor time: on one core that nobody else uses it is the time on the clock.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
from bench_reports import report
from deltalake import write_deltalake

from flake_report import flow
from flake_report.collect.archive_writer import ArchiveWriter, Artifact
from flake_report.collect.sources import open_source
from flake_report.model.evidence import Build, Job, JobState, LogMode
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome, TestId
from flake_report.store import Store
from flake_report.store.rows import table_of

START = datetime(2026, 1, 5, tzinfo=UTC)


def make_archive(root: Path, jobs: int, cases: int) -> None:
    """Ten jobs a build, of which there is one at least."""
    writer, rng = ArchiveWriter(root, "acme", "ci"), Random(7)
    for number in range(1, max(1, jobs // 10) + 1):
        created = (START + timedelta(days=number)).isoformat()
        payloads = [job_payload(number, at) for at in range(10)]
        writer.write_build(
            {
                "id": f"build-{number}", "number": number, "state": "passed", "commit": f"{number:040x}",
                "branch": "main", "source": "webhook", "created_at": created, "jobs": payloads,
            }
        )  # fmt: skip
        for at, payload in enumerate(payloads):
            data = "".join(report(at * cases, cases, rng)).encode()
            about = {
                "id": f"artifact-{number}-{at}", "job_id": payload["id"], "state": "finished",
                "path": "test-results/junit.xml", "file_size": len(data),
            }  # fmt: skip
            log = [b"$ pytest --junitxml=test-results/junit.xml\n=== done ===\n"]
            writer.write_job(number, payload, log=log, artifacts=[Artifact(about, [data])])


def job_payload(number: int, at: int) -> dict[str, object]:
    return {
        "id": f"0190-{number}-{at}", "type": "script", "name": f"Step {at}", "step_key": f"step-{at}",
        "state": "passed", "exit_status": 0, "agent": {"name": "agent-1"}, "agent_query_rules": ["queue=gpu_1"],
        "command": "pytest --junitxml=test-results/junit.xml",
    }  # fmt: skip


def record(number: int, attempts: int, rng: Random) -> JobRecord:
    """One build of one job."""
    build = Build("acme", "ci", str(number), number, f"{number:040x}", "main", "", START + timedelta(hours=number), "")
    job = Job(
        f"0190-{number}",
        "unit",
        "",
        "gpu_1",
        "a",
        "",
        JobState.PASSED,
        0,
        "",
        soft_failed=False,
        attempt=0,
        retry_type=None,
        retry_of=None,
        shard="",
        started_at=None,
        finished_at=None,
        command="",
    )
    made = tuple(
        ClassifiedAttempt(
            Attempt(
                TestId(f"v1.core.test_module_{at // 25}", f"test_fewer_blocks[{at}-float16]"),
                Outcome.FAILED if rng.random() < 0.02 else Outcome.PASSED,
                seconds=rng.random(),
                file=f"tests/v1/core/test_module_{at // 25}.py",
            )
        )
        for at in range(attempts)
    )
    return JobRecord(build, job, made, (), (), (), ("report",), (), LogMode.ALL, Versions("1", "1", "1"))


def timed(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def bulk(folder: Path, jobs: int, cases: int, rounds: int) -> None:
    make_archive(folder / "archive", jobs, cases)
    make_archive(folder / "small", 10, 10)
    table = flow.signature_table()
    flow.ingest(str(folder / "small"), str(folder / "small-store"), table, print, lambda: None)
    archive = str(folder / "archive")

    def read_only() -> None:
        for evidence in open_source(archive, print):
            flow.read(evidence, table)

    connection = duckdb.connect(str(folder / "peer.duckdb"))
    taken = []
    for number in range(rounds):
        store = str(folder / f"bulk-{number}")
        reading, whole = timed(read_only), timed(lambda: flow.ingest(archive, store, table, print, lambda: None))  # noqa: B023 - called at once
        rows = Store.open(store).table("attempts").to_arrow_table()
        inserting = timed(lambda: connection.from_arrow(rows).create(f"attempts_{number}"))  # noqa: B023
        taken.append((reading, whole, inserting))
    attempts = len(rows)
    reading, whole, inserting = (statistics.median(each) for each in zip(*taken, strict=True))
    print(f"bulk, {attempts:,} attempts of {jobs} jobs on one core, median of {rounds}")
    for name, seconds in (("read alone", reading), ("ingest", whole), ("DuckDB, rows made", inserting)):
        print(f"  {name:18}{seconds:8.2f} s{attempts / seconds:12,.0f} attempts/s")
    print(f"  storing is {100 * (1 - reading / whole):.0f} % of ingest")


def one_at_a_time(folder: Path, builds: int, attempts: int) -> None:
    rng = Random(7)
    ours, bare = [], []
    for number in range(builds):
        given = record(number, attempts, rng)
        path = str(folder / "singles")
        ours.append(timed(lambda: Store.create_or_open(path).ingest([given])))  # noqa: B023 - called at once
        rows = table_of("attempts", [(number, given)])
        rows = rows.append_column("week", [[given.build.week] * len(rows)])
        target = folder / "bare"
        bare.append(timed(lambda: write_deltalake(target, rows, mode="append", partition_by=["week"])))  # noqa: B023
    print(f"one at a time, {builds:,} builds of {attempts:,} attempts")
    for name, taken in (("ingest", ours), ("bare table", bare)):
        first, last = statistics.mean(taken[:100]), statistics.mean(taken[-100:])
        middle = statistics.median(taken)
        print(
            f"  {name:12}first 100 {1000 * first:6.1f} ms, median {1000 * middle:6.1f}, last 100 {1000 * last:6.1f} ms"
        )
        print(f"  {'':12}last/first {last / first:5.2f}")
    print(f"  {Store.open(str(folder / 'singles')).info().tables['attempts']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--builds", type=int, default=1_000)
    parser.add_argument("--attempts", type=int, default=1_000)
    asked = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        if asked.jobs:
            bulk(Path(folder), asked.jobs, asked.cases, asked.rounds)
        if asked.builds:
            one_at_a_time(Path(folder), asked.builds, asked.attempts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
