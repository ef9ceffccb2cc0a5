"""What a job's recorder and its log say of GPU memory, from the files to the rows of the store."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from flake_report import understand
from flake_report.model.evidence import Blob, Build, Evidence, Job, JobState
from flake_report.store import Store

RECORDED = Path(__file__).parent / "fixtures" / "attempts" / "attempts-leak.jsonl"
LOG = """\
+++ Command (1/1): pytest -v v1/kv_connector/unit
ValueError: Free memory on device cuda:0 (10.93/22.05 GiB) on startup is less than desired GPU memory utilization \
(0.5, 11.02 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
"""
BUILD = Build("o", "p", "7", 7, "c0ffee", "main", "webhook", datetime(2026, 4, 15, tzinfo=UTC), "failed")
JOB = Job(
    id="j", step="kv", label="KV", queue="gpu", agent="a", host="h", state=JobState.FAILED, exit_status=1,
    signal_reason="", soft_failed=False, attempt=0, retry_type=None, retry_of=None, shard="", started_at=None,
    finished_at=None, command="",
)  # fmt: skip
RESTART = "v1/kv_connector/unit/test_engine_restart.py::test_abort_releases_blocks[None]"
TOTAL = 23676715008


def test_the_recorders_memory_stands_in_the_store_beside_that_of_the_log(tmp_path: Path) -> None:
    evidence = Evidence(
        BUILD, JOB, (Blob(RECORDED.name, lambda: iter([RECORDED.read_bytes()])),), Blob("log", lambda: [LOG.encode()])
    )
    store = Store.create_or_open(str(tmp_path / "store"))
    store.ingest([understand.read(evidence, understand.signature_table())])
    rows = store.table("memory").project('"when", device, free, total, used, torch_reserved, test, holders').fetchall()
    first = [row for row in rows if row[6] == RESTART]
    held = [{"pid": 512, "name": "/usr/bin/python3", "bytes": 11940561388}]
    assert [row[:6] for row in first] == [
        ("before", "cuda:0", 23236444160, TOTAL, 440270848, 0),
        ("after", "cuda:0", 11736153620, TOTAL, 11940561388, 11660836864),
    ]
    assert [json.loads(row[7]) for row in first] == [[], held]
    assert ("error", "cuda:0", round(10.93 * 2**30)) in [row[:3] for row in rows]


def test_a_failure_of_one_of_several_workers_is_explained_by_the_log() -> None:
    each = {"schema": "gpu-guard-attempts/1", "session": "s-1", "command": "pytest -v --dist=each", "dist": "each"}
    wrapper = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
    failed = {"nodeid": "a.py::test_b", "attempt": 0, "worker": "gw1", "outcome": "failed", "message": wrapper}
    end = {"finished_at": "2026-04-15T18:41:12Z", "exit_status": 1}
    file = "\n".join(json.dumps(line) for line in (each, {**failed, "worker": "gw0", "outcome": "passed"}, failed, end))
    log = f"""\
+++ Command (1/1): pytest -v --dist=each
============================= test session starts ==============================
=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
[gw1] linux -- Python 3.12.11 /usr/bin/python3
E   {wrapper}
----------------------------- Captured stdout call -----------------------------
(EngineCore pid=738) ERROR 11-30 09:25:37 [core.py:935] {LOG.splitlines()[1]}
=========================== short test summary info ============================
FAILED a.py::test_b - {wrapper}
========================= 1 failed, 1 passed in 22.17s =========================
"""
    evidence = Evidence(
        BUILD, JOB, (Blob("attempts.jsonl", lambda: [file.encode()]),), Blob("log", lambda: [log.encode()])
    )
    record = understand.read(evidence, understand.signature_table())
    assert [(one.attempt.test.apart, one.blame) for one in record.attempts] == [("gw0", ""), ("gw1", "gpu-memory")]


def test_without_texts_failures_lose_their_tracebacks_once_these_are_understood() -> None:
    raised = "E   torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    report = f"""<testsuite name="pytest" tests="2"><testcase classname="a" name="t" time="1"><failure message="">
        def test(): ...&#10;{raised}</failure></testcase><testcase classname="a" name="u" time="1"/></testsuite>"""
    evidence = Evidence(BUILD, JOB, (Blob("junit.xml", lambda: iter([report.encode()])),), None)
    table = understand.signature_table()
    whole, light = understand.read(evidence, table), understand.read(evidence, table, texts=False)
    failed, passed = light.attempts
    assert raised in whole.attempts[0].attempt.text
    assert failed.blame == "gpu-memory"
    assert failed.attempt.text == ""
    assert light.attempts == (whole.attempts[0]._replace(attempt=whole.attempts[0].attempt._replace(text="")), passed)
