"""Processes killed in the middle of a commit: what they leave counts wholly or not at all."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable

from flake_report.model.failure import Blame, Cause
from flake_report.model.record import EngineStart, MemorySample, SampleMoment
from flake_report.store import Store

KILLS = 5
"""Kills that count: each left a data file that no commit names, so it came between the first file and the commit."""

TRIES = 60
JOBS, ATTEMPTS, MATCHES = 40, 30, 2
KINDS = {"jobs": 1, "attempts": ATTEMPTS, "matches": MATCHES, "memory": 1, "engines": 1}
"""Rows of one whole job."""

INGEST = """
import pickle, sys
from flake_report.store import Store
store = Store.open(sys.argv[1])
records = pickle.load(sys.stdin.buffer)
print("ready", flush=True)
while True:
    store.ingest(records)
"""

COMPACT = """
import sys
from flake_report.store import Store
store = Store.open(sys.argv[1])
print("ready", flush=True)
store.compact()
print("done", flush=True)
"""


@pytest.fixture
def records(make):
    """Jobs with something of every kind, in two weeks."""
    cause = Cause("s", "title", Blame.GPU_MEMORY, 1, "text", "hint", "", 1, {})
    sample = MemorySample(None, "cuda:0", SampleMoment.ERROR, 1, 2, 1)
    return [
        make.record(
            make.build(1 + at % 2 * 7),
            make.job(f"j{at}"),
            *(make.attempt(f"t{n}") for n in range(ATTEMPTS)),
            causes=(cause,) * MATCHES,
            memory=(sample,),
            engines=(EngineStart(None, "", "", "cuda:0", 0.5),),
        )
        for at in range(JOBS)
    ]


def data_files(root: Path) -> set[str]:
    return {path.name for path in root.glob("kind=*/week=*/*.parquet")}


def named(root: Path) -> set[str]:
    """The files that any commit ever named."""
    return set(DeltaTable(root).file_uris()) | {
        line for entry in (root / "_delta_log").glob("*.json") for line in entry.read_text().split('"')
    }


def orphans(root: Path) -> set[str]:
    known = " ".join(named(root))
    return {name for name in data_files(root) if name not in known}


def killed_at_the_first_new_file(root: Path, program: str, given: bytes = b"") -> bool:
    """Run the program and kill it as soon as it has written a data file; whether it had got that far."""
    before = data_files(root)
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(given)
        process.stdin.close()
        assert process.stdout.readline() == b"ready\n"
        while process.poll() is None and data_files(root) <= before:
            time.sleep(0.0005)
        process.kill()
    return not data_files(root) <= before


def whole_jobs(path: str) -> int:
    """How many jobs are seen; each has all its rows, and all of one ingest."""
    store = Store.open(path)
    jobs = {job for (job,) in store.table("jobs").project("job").fetchall()}
    for kind, rows in KINDS.items():
        seen = store.table(kind).aggregate("job, count(*), count(DISTINCT ingest)").fetchall()
        assert Counter({job: count for job, count, _ in seen}) == Counter(dict.fromkeys(jobs, rows)), kind
        assert {ingests for _, _, ingests in seen} <= {1}
    return len(jobs)


def test_a_killed_ingest_leaves_whole_jobs_or_nothing(tmp_path: Path, records) -> None:
    path = str(tmp_path / "store")
    Store.create_or_open(path)
    given = pickle.dumps(records)
    counted = 0
    for _ in range(TRIES):
        left = len(orphans(tmp_path / "store"))
        killed_at_the_first_new_file(tmp_path / "store", INGEST, given)
        counted += len(orphans(tmp_path / "store")) > left
        assert whole_jobs(path) in {0, JOBS}
        if counted == KILLS:
            break
    assert counted == KILLS, f"only {counted} of {TRIES} kills hit a commit"
    store = Store.open(path)
    assert [check for check in store.verify() if check.broken] == []
    store.ingest(records)
    assert whole_jobs(path) == JOBS
    assert store.vacuum(hours=0).files >= KILLS
    assert orphans(tmp_path / "store") == set()
    assert whole_jobs(path) == JOBS


def test_a_killed_compaction_changes_nothing(tmp_path: Path, records) -> None:
    path = str(tmp_path / "store")
    store = Store.create_or_open(path)
    for _ in range(3):
        store.ingest(records)
    counted = 0
    for _ in range(TRIES):
        version, left = DeltaTable(path).version(), len(orphans(tmp_path / "store"))
        killed_at_the_first_new_file(tmp_path / "store", COMPACT)
        counted += len(orphans(tmp_path / "store")) > left
        assert whole_jobs(path) == JOBS
        if DeltaTable(path).version() > version:  # it was quicker: something to merge again
            Store.open(path).ingest(records)
        if counted == KILLS:
            break
    assert counted == KILLS, f"only {counted} of {TRIES} kills hit a compaction"
    assert [check for check in Store.open(path).verify() if check.broken] == []
    assert Store.open(path).compact().rows_dropped > 0
    assert whole_jobs(path) == JOBS
