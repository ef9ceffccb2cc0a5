"""The guard's attempts file: what its own writer wrote, what damage does to it, and any bytes at all."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.model.results import Attempt, Holder, Outcome, Phase, ReportSummary, ResultSource, TestId
from flake_report.parse import limits
from flake_report.parse.attempts_file import read_attempts
from flake_report.parse.reports import read_report

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "attempts"
HEADER = {
    "schema": "gpu-guard-attempts/1",
    "job": "j",
    "session": "20261120T100000Z-7",
    "started_at": "2026-11-20T10:00:00Z",
    "command": "python -m pytest -v tests --junitxml=out.xml",
    "host": "h",
    "pid": 7,
    "python": "3.12",
    "pytest": "9.2.0",
}
END = {"finished_at": "2026-11-20T10:01:00Z", "exit_status": 0}


def line(nodeid: str = "tests/a.py::t", outcome: str = "passed", **more: Any) -> dict[str, Any]:
    return {"nodeid": nodeid, "attempt": 0, "outcome": outcome, **more}


def read(*lines: Any, tail: bytes = b"") -> tuple[ReportSummary, list[Attempt]]:
    attempts: list[Attempt] = []
    data = b"".join(json.dumps(one).encode() + b"\n" for one in lines) + tail
    return read_report("attempts.jsonl", [data], attempts.append), attempts


def test_what_the_recorder_wrote_is_read_in_full() -> None:
    attempts: list[Attempt] = []
    data = (FIXTURES / "attempts-reruns-and-a-crash.jsonl").read_bytes()
    summary = read_report("a.jsonl", [data], attempts.append)
    assert (summary.kind, summary.complete, summary.warnings) == ("attempts", True, ())
    assert (summary.tests, summary.reruns, summary.flaky, summary.cases) == (4, 1, 1, 5)
    first = attempts[0]
    assert first.test == TestId("test_net.TestPool", "test_reuse")
    assert (first.outcome, first.phase, first.seconds) == (Outcome.FAILED, Phase.CALL, 0.5)
    assert (first.worker, first.pid, first.position, first.fingerprint) == ("gw0", 81, 0, "fedcba9876543210")
    assert (first.session, first.session_key) == ("20260415T190000.000000Z-77", "pytest -n 2 --reruns 1")
    assert (first.source, first.file) == (ResultSource.ATTEMPTS, "tests/test_net.py")
    assert [(one.test.name, one.number, one.outcome.value) for one in attempts[1:4]] == [
        ("test_reuse", 1, "passed"),
        ("test_segfault", 0, "crashed"),
        ("test_other", 0, "error"),
    ]


def test_memory_is_read_by_device() -> None:
    memory = [{"device": 0, "free_before": 10, "free_after": 4, "at_before": "2026-11-20T10:00:00Z"}, {"device": 1}]
    _summary, [attempt] = read(HEADER, line(memory=memory), END)
    first, second = attempt.memory
    assert (first.device, first.free_before, first.free_after, first.used_before) == ("cuda:0", 10, 4, None)
    assert first.at_before is not None
    assert second.device == "cuda:1"


def test_the_first_line_tells_how_large_each_device_is() -> None:
    devices = [{"index": 1, "uuid": "u", "name": "L4", "total_bytes": 20}, {"index": 0, "name": "L4"}]
    summary, [attempt] = read({**HEADER, "devices": devices}, line(memory=[{"device": n} for n in (0, 1, 2)]), END)
    assert [one.total for one in attempt.memory] == [None, 20, None]
    assert summary.complete


def test_the_processes_that_hold_memory_are_read() -> None:
    holders = [{"pid": 7, "name": "python", "bytes": 30}, {"pid": 8, "name": "VLLM::EngineCore"}, {"pid": 9}]
    _summary, [attempt] = read(HEADER, line(outcome="failed", holders=holders), END)
    assert attempt.holders == (Holder(7, "python", 30), Holder(8, "VLLM::EngineCore", None), Holder(9, "", None))


@pytest.mark.parametrize("devices", [7, [7], [{"uuid": "u"}], [{"index": 0, "total_bytes": "20"}]], ids=str)
def test_devices_of_a_wrong_shape_are_told_and_the_attempts_kept(devices: object) -> None:
    summary, attempts = read({**HEADER, "devices": devices}, line(), END)
    assert len(attempts) == 1
    assert "line 1: `devices` is not what it should be" in str(summary.warnings[0])


def test_a_session_without_its_last_line_died() -> None:
    summary, attempts = read(HEADER, line())
    assert (summary.complete, len(attempts)) == (False, 1)
    assert "the session died" in str(summary.warnings[0])


def test_a_line_that_was_cut_costs_that_line_alone() -> None:
    summary, attempts = read(HEADER, line("tests/a.py::t"), tail=b'{"nodeid": "tests/a.py::u", "att')
    assert [attempt.test.name for attempt in attempts] == ["t"]
    assert not summary.complete


def test_the_sessions_of_two_files_put_together_stay_apart() -> None:
    other = {**HEADER, "session": "20261120T110000Z-8"}
    summary, attempts = read(HEADER, line(outcome="failed"), END, other, line(), END)
    assert (summary.complete, summary.suites, summary.flaky) == (True, 2, 0)
    assert [attempt.session for attempt in attempts] == ["20261120T100000Z-7", "20261120T110000Z-8"]


def test_attempts_that_are_missing_between_are_told() -> None:
    summary, attempts = read(HEADER, line(outcome="failed"), line(attempt=2), END)
    assert [(attempt.number, attempt.known) for attempt in attempts] == [(0, True), (1, False)]
    assert not summary.complete


def test_workers_that_each_run_every_test_are_runs_of_their_own() -> None:
    # Two workers; in the second one the test fails and fails again.
    summary, attempts = read(
        {**HEADER, "dist": "each"},
        line(worker="gw0"),
        line(worker="gw1", outcome="failed"),
        line(worker="gw1", outcome="failed", attempt=1),
        END,
    )
    assert (summary.complete, summary.tests, summary.reruns, summary.flaky) == (True, 2, 1, 0)
    assert [(one.test.apart, one.number, one.known) for one in attempts] == [
        ("gw0", 0, True),
        ("gw1", 0, True),
        ("gw1", 1, True),
    ]


def test_a_rerun_that_moved_to_another_worker_is_the_same_tests_next_attempt() -> None:
    summary, attempts = read(HEADER, line(worker="gw0", outcome="crashed"), line(worker="gw1", attempt=1), END)
    assert (summary.complete, summary.tests, summary.reruns, summary.flaky) == (True, 1, 1, 1)
    assert {(one.test.apart, one.known) for one in attempts} == {("", True)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "1"),
        ("seconds", -1),
        ("seconds", float("nan")),
        ("seconds", 10**400),
        ("pid", 1.5),
        ("pid", True),
        ("position", -1),
        ("message", 7),
        ("started_at", "yesterday"),
        ("started_at", 7),
        ("phase", "run"),
        ("fingerprint", "0123"),
        ("memory", {"device": 0}),
        ("memory", [7]),
        ("memory", [{"device": 0, "free_before": 10.93}]),
        ("memory", [{"free_before": 1}]),
        ("holders", {"pid": 1}),
        ("holders", [{"name": "python"}]),
        ("holders", [{"pid": 1, "bytes": -1}]),
        ("attempt", -1),
        ("worker", None),
        ("worker", ["gw0"]),
    ],
)
def test_a_field_of_the_wrong_type_is_left_out_and_told_and_the_attempt_kept(name: str, value: object) -> None:
    summary, attempts = read(HEADER, line(**{name: value}), END)
    assert len(attempts) == 1
    assert not summary.complete
    assert f"line 2: `{name}`" in str(summary.warnings[0])


# What the schema refuses and this reader does not look at, or reads all the same.
READ_ALL_THE_SAME = {
    "bytes are never negative",  # of a leak
    "a time in a local zone",
    "a time without a zone",
    "a misspelt name",
    "a setting lowered from nothing",
    "an environment value that is no text",
    "a device without a size",
}
WRONG = json.loads((FIXTURES / "wrong-lines.json").read_text())


@pytest.mark.parametrize(
    "wrong", [pytest.param(one["line"], id=one["why"]) for one in WRONG if one["why"] not in READ_ALL_THE_SAME]
)
def test_a_line_that_the_schema_refuses_is_told(wrong: object) -> None:
    lines = [HEADER, line(), wrong] if not (isinstance(wrong, dict) and "schema" in wrong) else [wrong, line()]
    summary, attempts = read(*lines, END)
    assert not summary.complete
    assert str(summary.warnings[0]).startswith("line ")
    assert attempts


def test_a_line_longer_than_any_should_be_is_passed_over_in_little_memory() -> None:
    long = b'{"nodeid": "' + b"x" * limits.LINE_BYTES + b'"}\n'
    chunks = [json.dumps(HEADER).encode() + b"\n", long[:100], long[100:], json.dumps(line()).encode() + b"\n"]
    attempts: list[Attempt] = []
    summary = read_attempts(chunks, attempts.append)
    assert (len(attempts), summary.complete) == (1, False)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_after_a_header_are_read_without_an_exception(data: bytes) -> None:
    summary, _attempts = read(HEADER, tail=data)
    assert summary.kind == "attempts"


@settings(deadline=None)
@given(st.lists(st.integers(0, 700), max_size=5))
def test_any_chunking_gives_the_same_records(cuts: list[int]) -> None:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in (HEADER, line(outcome="failed"), line(attempt=1), END))
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    chunks = [data[start:end] for start, end in itertools.pairwise(places)]
    whole: list[Attempt] = []
    parts: list[Attempt] = []
    assert read_attempts([data], whole.append) == read_attempts(chunks, parts.append)
    assert whole == parts


@settings(deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), lambda x: st.lists(x, max_size=3)))
def test_any_value_in_any_field_is_read_without_an_exception(value: object) -> None:
    for name in ("nodeid", "attempt", "outcome", "memory", "seconds", "message", "phase", "started_at"):
        read(HEADER, line(**{name: value}) if name not in ("nodeid", "outcome") else {**line(), name: value}, END)
    for name in HEADER:
        read({**HEADER, name: value}, line(), END)
