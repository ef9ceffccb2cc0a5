"""What `show` tells beside the rates, on histories in which something happened on purpose."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flake_report.model.evidence import Build, Job, JobState, LogMode
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome, TestId
from flake_report.store import Store

MONDAY = datetime(2026, 9, 7, tzinfo=UTC)
MACHINES = ("host-a", "host-b", "host-c", "host-d")


def attempt(name: str, outcome: Outcome, *, victim: bool = False, file: str = "") -> ClassifiedAttempt:
    message = "boom" if outcome.bad else ""
    told = Attempt(TestId("v1.test_x", name), outcome, message=message, fingerprint="f1" if message else "", file=file)
    return ClassifiedAttempt(told, "free-memory", "gpu-memory") if victim else ClassifiedAttempt(told)


def record(at: int, a_day: int, attempts: Sequence[ClassifiedAttempt], *, retry: bool = False) -> JobRecord:
    """Job of build `at`, of so many builds a day; its machine is the next in turn, a retry's the one after."""
    made = MONDAY + timedelta(days=1) / a_day * at
    build = Build("acme", "ci", str(at), at, f"c{at}", "main", "webhook", made, "failed")
    job = Job(
        id=f"j{at}{'-retry' * retry}", step="unit", label="Unit", queue="gpu_1", agent="", exit_status=0,
        host=MACHINES[(at + retry) % len(MACHINES)], state=JobState.PASSED, signal_reason="", soft_failed=False,
        attempt=int(retry), retry_type=None, retry_of=f"j{at}" if retry else None, shard="", started_at=None,
        finished_at=None, command="docker run acme/ci:1 pytest",
    )  # fmt: skip
    versions = Versions("p", "s", "f")
    return JobRecord(build, job, tuple(attempts), (), (), (), ("report",), (), LogMode.ALL, versions)


@pytest.fixture
def stored(home: Path) -> Callable[[Sequence[JobRecord]], None]:
    """Puts records into the store of the working folder."""
    return lambda records: Store.create_or_open(str(home / "flake-report-store")).ingest(records) and None


@pytest.fixture
def told(run: Callable) -> Callable[[], dict]:
    return lambda: json.loads(run("show", "--format", "json").out)


def test_a_test_that_began_to_fail_this_week_is_worse(stored, told, run) -> None:
    """Twenty builds a day for five weeks; in the last one a third of the runs of one test fail."""
    stored([
        record(at, 20, [
            attempt("worse", Outcome.FAILED if at >= 560 and at % 3 == 0 else Outcome.PASSED),
            *(attempt(f"calm_{k}", Outcome.FAILED if (at + 7 * k) % 40 == 0 else Outcome.PASSED) for k in range(5)),
        ])
        for at in range(700)
    ])  # fmt: skip
    found = told()["comparisons"]
    assert (found["week"], found["weeks_before"], found["pooled"]) == ("2026-W41", 4, False)
    [worse] = found["worse"]
    assert (worse["test"], worse["now"]["own_runs"], worse["before"]["first_failures"]) == ("v1.test_x::worse", 140, 0)
    assert (found["better"], found["new"], found["vanished"]) == ([], [], [])
    assert "worse" in run("show").out.split("2026-W41 against 4 weeks before")[1].split("\n")[1]


def test_a_bad_machine_is_found_and_what_passed_elsewhere_is_counted(stored, told, run) -> None:
    records = []
    for at in range(80):
        bad = at % len(MACHINES) == 2 and at % 8 != 6
        records.append(record(at, 8, [attempt("t", Outcome.FAILED if bad else Outcome.PASSED)]))
        if bad:
            records.append(record(at, 8, [attempt("t", Outcome.PASSED)], retry=True))
    stored(records)
    places = {(place["kind"], place["name"]): place for place in told()["agents"]}
    bad = places["machine", "host-c"]
    assert (bad["jobs"], bad["trouble"], bad["own"]) == (20, 10, 10)
    assert bad["p_value"] < 0.001
    assert (bad["tried_elsewhere"], bad["passed_elsewhere"]) == (10, 10)
    assert places["machine", "host-a"]["p_value"] == 1
    assert (places["queue", "gpu_1"]["jobs"], places["image", "acme/ci"]["jobs"]) == (80, 80)
    assert "1 machine of 4 worse than the others" in run("show").out


def test_victims_of_one_job_are_one_incident(stored, told, run) -> None:
    passes = [attempt(f"t_{k}", Outcome.PASSED) for k in range(4)]
    struck = [attempt(f"t_{k}", Outcome.FAILED, victim=True) for k in range(4)]
    stored([record(at, 1, struck if at == 9 else passes) for at in range(12)])
    report = told()
    [incident] = report["incidents"]
    assert (incident["build"], incident["job"], incident["signature"], incident["culprit"]) == (
        "9", "j9", "free-memory", None,
    )  # fmt: skip
    assert incident["victims"] == [f"v1.test_x::t_{k}" for k in range(4)]
    [kind] = report["incident_kinds"]
    assert (kind["incidents"], kind["victims"], kind["new"], kind["fingerprint"]) == (1, 4, True, "f1")
    assert "1 incident of the environment, 4 victims" in run("show").out


def test_owners_come_from_the_settings_and_from_codeowners(stored, told, run, home) -> None:
    stored([record(0, 1, [attempt("a", Outcome.FAILED), attempt("b", Outcome.PASSED, file="v1/test_x.py")])])
    (home / "flake-report.toml").write_text('[owners]\n"test_x::a" = "@me"\n')
    (home / "CODEOWNERS").write_text("/tests/v1/ @v1-team\nx y\n")
    assert {test["name"]: test["owner"] for test in told()["tests"]} == {"a": "@me", "b": "@v1-team"}
    assert "CODEOWNERS, line 2: y is no owner" in run("show").err
    assert run("export", "out").status == 0
    rows = list(csv.DictReader((home / "out" / "tests.csv").read_text().splitlines()))
    assert {row["name"]: row["owner"] for row in rows} == {"a": "'@me", "b": "'@v1-team"}


def test_a_codeowners_file_that_the_settings_name_must_be_there(stored, run, home) -> None:
    stored([record(0, 1, [attempt("a", Outcome.PASSED)])])
    (home / "flake-report.toml").write_text('[owners]\ncodeowners = "nowhere"\n')
    ran = run("show")
    assert ran.status == 2
    assert "nowhere: cannot be read" in ran.err


def test_the_kind_of_gpu_joins_queues(stored, told, home) -> None:
    stored([record(at, 1, [attempt("a", Outcome.PASSED)]) for at in range(3)])
    (home / "flake-report.toml").write_text('[queues.gpu_1]\ngpu_type = "L4"\n')
    assert {place["name"]: place["jobs"] for place in told()["agents"] if place["kind"] == "gpu"} == {"L4": 3}
