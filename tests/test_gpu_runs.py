"""What is said of jobs that ran on a real GPU, under the recorder, is what was done to them.

The files are those that `ci/gpu_tests` kept on an H200 with vLLM 0.23.0; only host names, folders and the card's id are
replaced. How each came about stands in `ci/gpu_tests/test_contention.py`: so the right answers are known.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flake_report import flow
from flake_report.collect.files import open_blob
from flake_report.model.query import Query
from flake_report.report.explanation import headline
from flake_report.report.history import to_json

RUNS = Path(__file__).parent / "fixtures" / "gpu_runs"
CARD = 150_109_880_320
"""Bytes of the card, as CUDA sees it."""
GIB = 2**30
ASKED = 0.3
ENGINE = "scenarios/one_engine.py::test_starts_and_answers"

DONE = {  # by job: signature, diagnosis, and the test that met it
    "full-card-mp0": ("free-memory-at-start", "other-process", ENGINE),
    "full-card-mp1": ("free-memory-at-start", "other-process", ENGINE),
    "after-a-leak": ("free-memory-at-start", "same-process", "scenarios/after_a_leak.py::test_starts_and_answers"),
    "freed-while-measuring": ("memory-profiling", "other-process", ENGINE),
    "taken-while-measuring": ("kv-cache-taken", "contention", ENGINE),
}


@pytest.fixture(scope="module")
def table():
    return flow.signature_table()


def explained(job: str, table):
    return flow.explain(open_blob(str(RUNS / "h200" / job / "job.log")), table)


@pytest.mark.parametrize("job", DONE)
def test_a_failed_start_is_explained_by_what_was_done_to_the_card(job: str, table) -> None:
    told = explained(job, table)
    (cause,) = told.causes
    assert (cause.signature, cause.diagnosis.kind.value, cause.test) == DONE[job]
    assert (told.passed, told.failed, told.unexplained) == (int(job == "after-a-leak"), 1, ())
    who = "scenarios/after_a_leak.py::test_keeps_its_cache left 110.8 of it"
    assert (who in cause.diagnosis.sentence) == (job == "after-a-leak")


@pytest.mark.parametrize("job", [job for job, (signature, *_) in DONE.items() if signature == "free-memory-at-start"])
def test_the_numbers_are_those_of_the_card_and_of_what_was_left_free(job: str, table) -> None:
    captures = explained(job, table).causes[0].captures
    assert captures["total_gib"] == pytest.approx(CARD / GIB, abs=0.005)
    assert captures["requested_gib"] == pytest.approx(ASKED * CARD / GIB, abs=0.005)
    assert captures["utilization"] == ASKED
    # A fifth of the card was left; the engine's own context, about half a GiB, came out of that.
    spare = 0 if job != "after-a-leak" else 1  # GiB that the leaking test left beside
    assert captures["free_gib"] == pytest.approx((ASKED - 0.1) * CARD / GIB - 0.52 + spare, abs=0.3)


def test_a_job_that_was_lowered_has_no_failure(table) -> None:
    told = explained("full-card-tuned", table)
    assert (told.causes, told.passed, told.failed) == ((), 1, 0)
    assert headline(told).plain == "✓ 1 test session · 1 passed, 0 failed · nothing failed"


def test_a_job_that_was_killed_is_no_green_one(table) -> None:
    told = explained("orphaned-engine", table)
    assert (told.causes, told.cut_sessions) == ((), 1)
    assert headline(told).plain.startswith("? ")


def test_every_file_is_read_to_its_end_but_the_killed_one() -> None:
    warned: list[str] = []
    for file in sorted(RUNS.rglob("*.jsonl")) + sorted(RUNS.rglob("*.xml")):
        told = flow.parse(open_blob(str(file)), warned.append)
        assert told.complete == ("orphaned-engine" not in file.parts), file
        assert told.failed == (file.parent.name in DONE)
    assert not warned


def test_attempts_and_report_of_one_session_are_one_run_and_the_history_names_who_did_it(tmp_path: Path, table) -> None:
    store = str(tmp_path / "store")
    counts = flow.ingest(str(RUNS), store, table, lambda _warning: None, lambda: None)
    assert (counts.jobs, counts.attempts) == (7, 7)  # two of the leak's, one each of five, none of the killed one
    shown = to_json(flow.show(store, Query(), budget=0.005))
    assert {(one["signature"], len(one["victims"])) for one in shown["incidents"]} == {
        (signature, 1) for signature, *_ in DONE.values()
    }
    named = [(one["victims"], one["culprit"]) for one in shown["incidents"] if one["culprit"]]
    leak = "scenarios.after_a_leak"
    assert named == [([f"{leak}::test_starts_and_answers"], f"{leak}::test_keeps_its_cache")]  # and nobody elsewhere
    assert {one["verdict"] for one in shown["tests"]} == {"unknown"}  # one run of each is no history
    assert sum(one["victim_runs"] for one in shown["tests"]) == len(DONE)


def test_the_recorder_saw_who_held_the_card_and_how_much_the_leak_took() -> None:
    held = {}
    for job in DONE:
        (file,) = (RUNS / "h200" / job).glob("attempts-*.jsonl")
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        held[job] = [line for line in lines if "nodeid" in line]
    leak = held["after-a-leak"][0]["leak"]
    elements = int(re.search(r"left .* in (\d+) torch", (RUNS / "h200/after-a-leak/job.log").read_text())[1])
    assert leak["bytes"] == pytest.approx(elements * 2, rel=0.05)
    for job in ("full-card-mp0", "full-card-mp1"):
        largest = max(held[job][0]["holders"], key=lambda one: one["bytes"])
        assert largest["bytes"] == pytest.approx((1 - ASKED + 0.1) * CARD, rel=0.05)
        assert largest["pid"] != held[job][0]["pid"]
