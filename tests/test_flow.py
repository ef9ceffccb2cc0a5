"""Where the stages meet: one job's report and log become one record, and each source adds what the other lacks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flake_report import flow
from flake_report.collect.archive_writer import ArchiveWriter
from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob, Build, Evidence, Job, JobState
from flake_report.model.record import ClassifiedAttempt, JobRecord
from flake_report.store import Store

FREE = (
    "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory utilization "
    "(0.47, 10.36 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)
WRAPPER = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
LOG = f"""\
+++ Command (1/1): pytest -v v1/test_x.py --junitxml=out/junit.xml
============================= test session starts ==============================
collected 2 items

v1/test_x.py::test_a PASSED                                              [ 50%]
v1/test_x.py::test_b FAILED                                              [100%]

=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
E   {WRAPPER}
----------------------------- Captured stdout call -----------------------------
(EngineCore pid=738) ERROR 11-30 09:25:37 [core.py:935] {FREE}
=========================== short test summary info ============================
FAILED v1/test_x.py::test_b - {WRAPPER}
========================= 1 failed, 1 passed in 22.17s =========================
🚨 Error: The command exited with status 1
"""
REPORT = f"""\
<testsuites><testsuite name="pytest" tests="2" failures="1">
<testcase classname="v1.test_x" name="test_a" time="0.1"/>
<testcase classname="v1.test_x" name="test_b" time="22"><failure message="{WRAPPER}">E {WRAPPER}</failure></testcase>
</testsuite></testsuites>
"""
BUILD = Build("o", "p", "7", 7, "c0ffee", "main", "webhook", datetime(2026, 11, 30, tzinfo=UTC), "failed")


def job(exit_status: int | None = 1) -> Job:
    return Job(
        id="j", step="kv", label="KV", queue="gpu", agent="a", host="h", state=JobState.FAILED, exit_status=exit_status,
        signal_reason="", soft_failed=False, attempt=0, retry_type=None, retry_of=None, shard="", started_at=None,
        finished_at=None, command="",
    )  # fmt: skip


def blob(name: str, text: str) -> Blob:
    return Blob(name, lambda: iter([text.encode()]))


@pytest.fixture(scope="module")
def read() -> Callable[[Evidence], JobRecord]:
    table = flow.signature_table()
    return lambda evidence: flow.read(evidence, table)


def by_name(record: JobRecord) -> dict[str, ClassifiedAttempt]:
    return {one.attempt.test.name: one for one in record.attempts}


def test_a_wrapper_in_the_report_is_explained_by_the_log(read) -> None:
    record = read(Evidence(BUILD, job(), (blob("junit.xml", REPORT),), blob("log", LOG)))
    failed = by_name(record)["test_b"]
    assert (failed.signature, failed.blame) == (record.causes[0].signature, "gpu-memory")
    assert record.causes[0].captures["free_gib"] == 4.51


def test_each_attempt_counts_once_and_takes_the_session_of_the_log(read) -> None:
    record = read(Evidence(BUILD, job(), (blob("out/junit.xml", REPORT),), blob("log", LOG)))
    assert sorted(by_name(record)) == ["test_a", "test_b"]
    assert len(record.attempts) == 2
    assert {one.attempt.session_key for one in record.attempts} == {"pytest -v v1/test_x.py"}
    assert record.sources == ("report",)


def test_without_a_report_the_log_gives_the_results(read) -> None:
    record = read(Evidence(BUILD, job(), (), blob("log", LOG)))
    assert {name: one.attempt.outcome.value for name, one in by_name(record).items()} == {
        "test_a": "passed",
        "test_b": "failed",
    }
    assert record.sources == ("log",)


def test_an_unreadable_log_is_a_warning_and_the_report_is_kept(read) -> None:
    def broken() -> object:
        raise FlakeReportError("log: cannot be read; check it")

    record = read(Evidence(BUILD, job(), (blob("junit.xml", REPORT),), Blob("log", broken)))
    assert len(record.attempts) == 2
    assert any("cannot be read" in warning for warning in record.warnings)


def test_the_jobs_own_exit_status_counts_where_its_log_does_not_say(read) -> None:
    text = "java.lang.IllegalStateException: no room\n" + "line\n" * 200
    died = read(Evidence(BUILD, job(1), (), blob("log", text)))
    passed = read(Evidence(BUILD, job(0), (), blob("log", text)))
    assert len(died.causes) == 1
    assert passed.causes == ()


def test_the_cause_of_a_test_is_its_contention_and_not_the_refusal_in_its_text(read) -> None:
    refused = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`"
    text = LOG.replace(FREE, "Available KV cache memory: -78.4 GiB").replace(WRAPPER, refused)
    record = read(Evidence(BUILD, job(), (blob("junit.xml", REPORT.replace(WRAPPER, refused)),), blob("log", text)))
    assert by_name(record)["test_b"].signature == "kv-cache-taken"


@pytest.fixture
def ingest(tmp_path: Path) -> Callable[..., tuple[int, list[str]]]:
    table = flow.signature_table()

    def call(source: Path, **more: object) -> tuple[int, list[str]]:
        warnings: list[str] = []
        counts = flow.ingest(str(source), str(tmp_path / "store"), table, warnings.append, lambda: None, **more)
        return counts.jobs, warnings

    return call


def archive(root: Path, state: str) -> Path:
    writer = ArchiveWriter(root, "acme", "ci")
    about = {"id": "j1", "type": "script", "name": "kv", "state": "passed", "exit_status": 0}
    writer.write_job(7, about)
    writer.write_build({"number": 7, "state": state, "created_at": "2026-11-30T06:00:00Z", "jobs": [about]})
    return root


def test_a_build_that_went_on_is_told_anew_and_a_settled_one_is_not_read_again(ingest, tmp_path: Path) -> None:
    root = archive(tmp_path / "archive", "running")
    assert ingest(root, again=False)[0] == 1
    assert ingest(root, again=False)[0] == 0
    archive(root, "failed")
    assert ingest(root, again=False)[0] == 1
    [(state,)] = Store.open(str(tmp_path / "store")).table("builds").project("state").fetchall()
    assert state == "failed"


def test_folders_of_one_name_warn_that_they_replace_each_other(ingest, tmp_path: Path) -> None:
    owners: dict[str, str] = {}
    said = []
    for place in ("a", "b"):
        folder = tmp_path / place / "results"
        folder.mkdir(parents=True)
        (folder / "junit.xml").write_text(REPORT)
        said += ingest(folder, owners=owners)[1]
    [warning] = said
    assert str(tmp_path / "a" / "results") in warning
    assert "replaces it" in warning
