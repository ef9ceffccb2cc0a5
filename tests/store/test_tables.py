"""The tables that people see: their columns, and one job's rows in each, written out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import JobState, LogMode, RetryType
from flake_report.model.failure import Blame, Cause
from flake_report.model.record import EngineStart, Holder, MemorySample, SampleMoment
from flake_report.model.results import Outcome, Phase, ResultSource

GIB = 2**30

TEXT, WHOLE, REAL, TRUTH, TIME = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP WITH TIME ZONE"
KEYS = {"org": TEXT, "pipeline": TEXT, "build": TEXT, "ingest": WHOLE}

COLUMNS = {
    "builds": {
        **KEYS,
        "number": WHOLE,
        "commit": TEXT,
        "branch": TEXT,
        "source": TEXT,
        "created_at": TIME,
        "state": TEXT,
        "week": TEXT,
    },
    "jobs": {
        **KEYS,
        "job": TEXT,
        "id": TEXT,
        "step": TEXT,
        "label": TEXT,
        "queue": TEXT,
        "agent": TEXT,
        "host": TEXT,
        "state": TEXT,
        "exit_status": WHOLE,
        "signal_reason": TEXT,
        "soft_failed": TRUTH,
        "attempt": WHOLE,
        "retry_type": TEXT,
        "retry_of": TEXT,
        "shard": TEXT,
        "started_at": TIME,
        "finished_at": TIME,
        "command": TEXT,
        "sources": TEXT,
        "mode": TEXT,
        "warnings": WHOLE,
        "warning_texts": TEXT,
        "parser_version": TEXT,
        "signatures_version": TEXT,
        "fingerprint_version": TEXT,
        "diagnosis_version": TEXT,
        "week": TEXT,
    },
    "attempts": {
        **KEYS,
        "job": TEXT,
        "ordinal": WHOLE,
        "classname": TEXT,
        "name": TEXT,
        "apart": TEXT,
        "file": TEXT,
        "session": TEXT,
        "session_key": TEXT,
        "position": WHOLE,
        "pid": WHOLE,
        "worker": TEXT,
        "attempt": WHOLE,
        "attempts_known": TRUTH,
        "outcome": TEXT,
        "phase": TEXT,
        "seconds": REAL,
        "started_at": TIME,
        "message": TEXT,
        "fingerprint": TEXT,
        "signature": TEXT,
        "blame": TEXT,
        "source": TEXT,
        "week": TEXT,
    },
    "matches": {
        **KEYS,
        "job": TEXT,
        "signature": TEXT,
        "blame": TEXT,
        "line": WHOLE,
        "text": TEXT,
        "test": TEXT,
        "count": WHOLE,
        "captures": TEXT,
        "diagnosis": TEXT,
        "week": TEXT,
    },
    "memory": {
        **KEYS,
        "job": TEXT,
        "at": TIME,
        "device": TEXT,
        "free": WHOLE,
        "total": WHOLE,
        "used": WHOLE,
        "torch_reserved": WHOLE,
        "holders": TEXT,
        "test": TEXT,
        "when": TEXT,
        "week": TEXT,
    },
    "engines": {
        **KEYS,
        "job": TEXT,
        "at": TIME,
        "session": TEXT,
        "test": TEXT,
        "device": TEXT,
        "utilization": REAL,
        "requested": WHOLE,
        "free": WHOLE,
        "total": WHOLE,
        "weight": WHOLE,
        "activation": WHOLE,
        "non_torch": WHOLE,
        "kv": WHOLE,
        "outcome": TEXT,
        "week": TEXT,
    },
}

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)  # a Friday of ISO week 48


@pytest.fixture
def filled(store, make):
    """A store with one job that has something of every kind."""
    build = make.build(61473, commit="4f2a", created_at=NOON, state="failed")
    job = make.job(
        "0190-aa",
        state=JobState.FAILED,
        exit_status=1,
        attempt=1,
        retry_type=RetryType.AUTOMATIC,
        retry_of="0190-a9",
        started_at=NOON,
    )
    attempt = make.attempt(
        "test_fewer_blocks_with_hma[google/gemma-3-1b-it-512]",
        Outcome.FAILED,
        signature="gpu-memory-at-start",
        blame="gpu-memory",
        phase=Phase.CALL,
        seconds=41.5,
        started_at=NOON,
        message="ValueError: Free memory on device cuda:0",
        file="tests/v1/test_x.py",
        session="20261127T120000Z-77",
        session_key="pytest -v v1",
        position=3,
        pid=77,
        worker="gw0",
        fingerprint="00112233aabbccdd",
        source=ResultSource.ATTEMPTS,
    )
    cause = Cause(
        "gpu-memory-at-start",
        "too little free when the engine started",
        Blame.GPU_MEMORY,
        18204,
        "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB)",
        "find the leftover",
        "v1/test_x.py::test_y",
        4,
        {"device": "cuda:0", "free_gib": 4.51, "ranks": 2},
    )
    sample = MemorySample(
        NOON, "cuda:0", SampleMoment.ERROR, 5 * GIB, 22 * GIB, 17 * GIB, GIB, (Holder(4711, "python", 17 * GIB),), "t"
    )
    start = EngineStart(NOON, "s1", "t", "cuda:0", 0.47, 10 * GIB, 5 * GIB, 22 * GIB, outcome="refused")
    counts = store.ingest(
        [
            make.record(
                build, job, attempt, causes=(cause,), memory=(sample,), engines=(start,), warnings=("log: cut",),
                mode=LogMode.FAILED, sources=("attempts", "log"),
            )
        ]
    )  # fmt: skip
    assert (counts.builds, counts.jobs, counts.attempts, counts.matches, counts.memory, counts.engines) == (1,) * 6
    return store


ROWS = {
    "builds": {"number": 61473, "commit": "4f2a", "branch": "main", "source": "webhook", "state": "failed"},
    "jobs": {
        "id": "0190-aa",
        "step": "unit",
        "label": ":pytest: Unit",
        "queue": "gpu_1",
        "agent": "agent-1",
        "host": "host-1",
        "state": "failed",
        "exit_status": 1,
        "signal_reason": "",
        "soft_failed": False,
        "attempt": 1,
        "retry_type": "automatic",
        "retry_of": "0190-a9",
        "shard": "",
        "started_at": NOON,
        "finished_at": None,
        "command": "pytest",
        "sources": '["attempts","log"]',
        "mode": "failed",
        "warnings": 1,
        "warning_texts": '["log: cut"]',
        "parser_version": "parser-1",
        "signatures_version": "signatures-1",
        "fingerprint_version": "fingerprint-1",
        "diagnosis_version": "",
    },
    "attempts": {
        "ordinal": 0,
        "classname": "v1.test_x",
        "name": "test_fewer_blocks_with_hma[google/gemma-3-1b-it-512]",
        "apart": "",
        "file": "tests/v1/test_x.py",
        "session": "20261127T120000Z-77",
        "session_key": "pytest -v v1",
        "position": 3,
        "pid": 77,
        "worker": "gw0",
        "attempt": 0,
        "attempts_known": True,
        "outcome": "failed",
        "phase": "call",
        "seconds": 41.5,
        "started_at": NOON,
        "message": "ValueError: Free memory on device cuda:0",
        "fingerprint": "00112233aabbccdd",
        "signature": "gpu-memory-at-start",
        "blame": "gpu-memory",
        "source": "attempts",
    },
    "matches": {
        "signature": "gpu-memory-at-start",
        "blame": "gpu-memory",
        "line": 18204,
        "text": "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB)",
        "test": "v1/test_x.py::test_y",
        "count": 4,
        "captures": '{"device":"cuda:0","free_gib":4.51,"ranks":2}',
        "diagnosis": None,
    },
    "memory": {
        "at": NOON,
        "device": "cuda:0",
        "free": 5368709120,
        "total": 23622320128,
        "used": 18253611008,
        "torch_reserved": 1073741824,
        "holders": '[{"pid":4711,"name":"python","bytes":18253611008}]',
        "test": "t",
        "when": "error",
    },
    "engines": {
        "at": NOON,
        "session": "s1",
        "test": "t",
        "device": "cuda:0",
        "utilization": 0.47,
        "requested": 10737418240,
        "free": 5368709120,
        "total": 23622320128,
        "weight": None,
        "activation": None,
        "non_torch": None,
        "kv": None,
        "outcome": "refused",
    },
}


@pytest.mark.parametrize("table", COLUMNS)
def test_a_table_without_rows_has_these_columns(table, store) -> None:
    relation = store.table(table)
    assert dict(zip(relation.columns, map(str, relation.types), strict=True)) == COLUMNS[table]


@pytest.mark.parametrize("table", COLUMNS)
def test_a_table_with_rows_has_these_columns(table, filled) -> None:
    relation = filled.table(table)
    assert dict(zip(relation.columns, map(str, relation.types), strict=True)) == COLUMNS[table]


@pytest.mark.parametrize("table", COLUMNS)
def test_a_table_holds_what_the_job_left(table, filled) -> None:
    (row,) = filled.table(table).to_arrow_table().to_pylist()
    assert {name: row[name] for name in ROWS[table]} == ROWS[table]
    assert (row["org"], row["pipeline"], row["build"], row["week"]) == ("acme", "ci", "61473", "2026-W48")
    assert row.get("job", "0190-aa") == "0190-aa"


def test_every_row_of_a_job_carries_the_ingest_of_its_jobs_row(filled) -> None:
    ingests = {table: filled.table(table).project("ingest").fetchall() for table in COLUMNS if table != "builds"}
    assert all(found == ingests["jobs"] for found in ingests.values())


def test_the_documented_example_runs(filled) -> None:
    failed = filled.table("attempts").filter("outcome = 'failed'")
    frame = failed.aggregate("classname, name, count(*) AS failures").order("failures DESC").df()
    assert frame["failures"].tolist() == [1]


@pytest.mark.usefixtures("filled")
def test_pandas_reads_the_same_rows_from_the_delta_table_alone(tmp_path) -> None:
    from deltalake import DeltaTable

    frame = DeltaTable(tmp_path / "store").to_pandas(filters=[("kind", "=", "attempts"), ("week", "=", "2026-W48")])
    assert frame["message"].tolist() == ["ValueError: Free memory on device cuda:0"]
    assert frame["free"].isna().all()


def test_an_unknown_table_is_refused_with_the_names_there_are(store) -> None:
    with pytest.raises(FlakeReportError, match="table runs: unknown; the store has builds, jobs, attempts, matches"):
        store.table("runs")
