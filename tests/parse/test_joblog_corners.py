"""Rare lines: what a log says twice, wrongly, or not quite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flake_report.model.joblog import JobLog
from flake_report.model.results import Outcome
from flake_report.parse import marks, pytestsession
from flake_report.parse.joblog import Outline
from flake_report.parse.marks import mark

Read = Callable[[bytes], JobLog]
START = b"============================= test session starts ==============================\n"
PASSED = b"==== 1 passed in 0.01s ====\n"
SUMMARY = b"=========================== short test summary info ============================\n"


def test_a_script_s_echo_and_the_trace_of_its_commands_are_one(outline: Read) -> None:
    log = outline(
        b"$ pytest -v a && make lint && pytest -v b && pytest -v c\n"
        + START + b"tests/a.py::t PASSED [100%]\n" + PASSED
        + b"+ pytest -v c\n+ pytest -v c\n" + START + PASSED
    )  # fmt: skip
    assert [session.command for session in log.sessions] == ["pytest -v a", "pytest -v c"]


@pytest.mark.parametrize(
    ("after", "summary", "outcome"),
    [
        (b"PASSED\nFAILED\n", b"", Outcome.PASSED),
        (b"FAILED\nPASSED\n", SUMMARY + b"FAILED tests/a.py::t - why\n", Outcome.FAILED),
        (b"SKIPPED (why)\nERROR\n", b"", Outcome.SKIPPED),
    ],
    ids=["a tear-down that says FAILED", "a tear-down that says PASSED", "a tear-down that says ERROR"],
)
def test_the_short_summary_knows_which_word_was_the_test_s(
    after: bytes, summary: bytes, outcome: Outcome, outline: Read
) -> None:
    last = b"==== 1 failed in 0.01s ====\n" if summary else PASSED
    (attempt,) = outline(START + b"tests/a.py::t words\n" + after + b"\n" + summary + last).attempts
    assert attempt.outcome is outcome


def test_a_title_that_no_test_has_is_output_of_the_failure_before_it(outline: Read) -> None:
    log = outline(
        START + b"=================================== FAILURES ===================================\n"
        b"____________ test_x ____________\nE   ValueError: x\n--- Captured stdout call ---\n"
        b"____________ printed ____________\nE   TypeError: not this\n"
        + SUMMARY + b"FAILED tests/a.py::test_x - ValueError: x\n==== 1 failed in 0.01s ====\n"
    )  # fmt: skip
    (attempt,) = log.attempts
    assert attempt.message == "ValueError: x"
    assert attempt.text.endswith("____________ printed ____________\nE   TypeError: not this")
    assert log.test_at(7) == "tests/a.py::test_x"


def test_counts_that_the_lines_do_not_bear_out_are_said(outline: Read) -> None:
    log = outline(START + b"tests/a.py::test_x PASSED [ 50%]\n==== 2 passed in 0.01s ====\n")
    assert [str(warning) for warning in log.warnings] == ["line 3: pytest counts 2 passed, its lines show 1"]


def test_a_short_summary_too_long_to_keep_is_said(monkeypatch: pytest.MonkeyPatch, outline: Read) -> None:
    monkeypatch.setattr(pytestsession, "KEPT_SUMMARY_BYTES", 200)
    entries = b"".join(b"FAILED tests/a.py::test_%d - why\n" % number for number in range(50))
    log = outline(START + SUMMARY + entries + b"==== 50 failed in 0.01s ====\n")
    assert log.sessions[0].failed == 50
    assert 0 < len(log.attempts) < 50
    assert "too long" in str(log.warnings[0])


def test_a_long_line_is_read_by_its_two_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "LONGEST", 100)
    long = mark(7, b"tests/a.py::t " + b"x" * 500 + b"PASSED", 0)
    assert long.parts[0].startswith("tests/a.py::t ")
    assert long.text.endswith("PASSED")


@pytest.mark.parametrize(
    "stamp", [b"\x1b_bk;t=99999999999999\x07", b"[2026-13-45T99:99:99Z] "], ids=["too late", "no date"]
)
def test_a_stamp_that_is_no_time_is_none(stamp: bytes, outline: Read) -> None:
    (attempt,) = outline(START + stamp + b"tests/a.py::test_x PASSED [100%]\n" + PASSED).attempts
    assert attempt.started_at is None


def test_an_engine_that_only_its_error_tells_of(outline: Read) -> None:
    short = "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory "
    short += "utilization (0.47, 10.36 GiB)."
    log = outline(f"{short}\nagain: {short}\n".encode())
    assert [(start.outcome, start.utilization, start.device) for start in log.engines] == [
        ("free memory", 0.47, "cuda:0")
    ]
    assert len(log.memory) == 1


def test_json_that_is_no_event_of_go_is_passed_over(outline: Read) -> None:
    log = outline(
        b'{"Action":"pass","Package":\n{"Action":"pass"}\n{"Action":"pass","Package":7,"Test":"x"}\n'
        b'{"x":{"Action":"fail"}} [1]\n'
    )
    assert (log.sessions, log.attempts) == ((), ())


def test_a_package_that_does_not_build_is_an_error(outline: Read) -> None:
    (session,) = outline(b"FAIL\texample.org/x [build failed]\nFAIL\n").sessions
    assert (session.runner, session.errors, session.failed) == ("go test", 1, 0)


def test_an_outline_of_nothing_is_empty() -> None:
    assert Outline().result() == JobLog(lines=0)
