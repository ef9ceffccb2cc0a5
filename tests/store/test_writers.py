"""Several processes write into one store at once."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

from deltalake import DeltaTable

from flake_report.model.query import Query
from flake_report.store import Store

WRITERS, ROUNDS, ATTEMPTS = 10, 8, 20

PROGRAM = """
import pickle, sys
from flake_report.store import Store
records = pickle.load(sys.stdin.buffer)
for record in records:
    Store.create_or_open(sys.argv[1]).ingest([record])
"""
"""One writer: each record its own commit. It opens the store itself, so the first ones race to make it."""


def test_ten_writers_lose_nothing_and_count_nothing_twice(tmp_path: Path, make) -> None:
    path = str(tmp_path / "store")

    def record(writer: int, turn: int):
        """Every fourth turn all writers bring the same job, each with its own number of attempts."""
        shared = turn % 4 == 0
        build = make.build(turn + 1)
        attempts = (make.attempt(f"t{at}") for at in range(ATTEMPTS + writer))
        return make.record(build, make.job(f"shared-{turn}" if shared else f"{writer}-{turn}"), *attempts)

    turns = [pickle.dumps([record(writer, turn) for turn in range(ROUNDS)]) for writer in range(WRITERS)]
    writers = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, path], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in turns
    ]
    for process, given in zip(writers, turns, strict=True):
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        process.stdin = None  # given: `communicate` must not flush it again
    assert [process.communicate(timeout=240)[1] for process in writers] == [b""] * WRITERS
    assert [process.returncode for process in writers] == [0] * WRITERS

    store = Store.open(path)
    assert [check for check in store.verify() if check.broken] == []
    per_job = dict(store.table("attempts").aggregate("job, count(*)").fetchall())
    own = {f"{writer}-{turn}": ATTEMPTS + writer for writer in range(WRITERS) for turn in range(ROUNDS) if turn % 4}
    shared = {f"shared-{turn}" for turn in range(ROUNDS) if turn % 4 == 0}
    assert {job: count for job, count in per_job.items() if job not in shared} == own
    assert {per_job[job] for job in shared} <= {ATTEMPTS + writer for writer in range(WRITERS)}
    assert store.table("jobs").aggregate("count(*)").fetchall() == [(len(own) + len(shared),)]
    assert store.health(Query()).builds == ROUNDS
    log = DeltaTable(path).history()
    assert len(log) > 1 + WRITERS * ROUNDS, "beside the ingests somebody merged files"
