"""Causes of whole logs: what is first, what is one event, what is left out, and that green stays green."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flake_report.classify.scan import Scan
from flake_report.classify.verdict import causes
from flake_report.model.failure import Blame, Cause
from flake_report.model.joblog import JobLog
from flake_report.parse.joblog import Outline, blocks, clean

FREE = (
    "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory utilization "
    "(0.47, 10.36 GiB)."
)
OTHER = FREE.replace("4.51", "3.02")
WRAPPER = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
RED = "🚨 Error: The command exited with status 1"
START = "============================= test session starts ============================="
SUMMARY = "=========================== short test summary info ============================"
FAILURES = "=================================== FAILURES ==================================="


def section(test: str) -> str:
    return f" {test} ".center(80, "_")


@pytest.fixture(scope="session")
def explain(table) -> Callable[..., tuple[Cause, ...]]:
    """The causes of a log of these lines."""

    def run(*lines: str) -> tuple[Cause, ...]:
        log = "\n".join(lines).encode() + b"\n"
        outline, scan = Outline(), Scan(table, clean)
        for block in blocks([log]):
            outline.feed(block)
            scan.feed(block)
        return causes(scan.matches(), outline.result())

    return run


def names(found: tuple[Cause, ...]) -> list[str]:
    return [cause.signature for cause in found]


def test_pips_warning_that_calls_itself_an_error_is_none(explain):
    assert explain("ERROR: pip's dependency resolver does not currently take into account all the packages") == ()


def test_the_root_cause_stands_before_its_wrapper_and_the_wrapper_goes(explain):
    found = explain(
        f"(EngineCore pid=9) ERROR 11-30 10:30:59 [core.py:1195] {FREE}", f"(EngineCore pid=9) {FREE}", WRAPPER, RED
    )
    assert names(found) == ["free-memory-at-start"]
    assert (found[0].line, found[0].count, found[0].blame) == (1, 2, Blame.GPU_MEMORY)


def test_one_event_printed_by_several_processes_is_one_cause(explain):
    lines = [f"(Worker_TP0 pid={pid}) ERROR 11-30 10:30:59 [core.py:1195] {FREE}" for pid in range(6)]
    found = explain(*lines, RED)
    assert [(cause.line, cause.count) for cause in found] == [(1, 6)]


def test_a_copy_that_was_cut_is_a_copy(explain):
    found = explain(FREE, "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less...", RED)
    assert [(cause.line, cause.count, len(cause.captures)) for cause in found] == [(1, 2, 5)]


def test_independent_causes_are_all_listed_by_priority(explain):
    found = explain("OSError: [Errno 28] No space left on device", OTHER, FREE, RED)
    assert [(cause.signature, cause.line) for cause in found] == [
        ("free-memory-at-start", 2),
        ("free-memory-at-start", 3),
        ("disk-full", 1),
    ]


def test_a_wrapper_alone_says_that_the_cause_is_not_in_the_log(explain):
    found = explain(WRAPPER, RED)
    assert (found[0].signature, found[0].wrapper) == ("vllm-engine-failed", True)


def test_of_wrappers_around_each_other_only_the_innermost_is_told(explain):
    engine = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
    found = explain(engine, "🚨 Error: The command exited with status 1", "user command error: exit status 1")
    assert [cause.signature for cause in found] == ["vllm-engine-failed"]


def test_a_green_log_full_of_errors_has_no_cause(explain):
    green = ["ERROR: retrying", FREE, "FAILED tests/test_x.py::test_y - KeyError: 'a'", "No space left on device"]
    assert explain(*green) != ()
    passed = [START, "tests/test_x.py::test_y PASSED", "============== 1 passed in 0.10s =============="]
    assert explain(*green, *passed) == ()


def test_a_job_that_ended_with_status_0_has_no_cause(search):
    matches = search(FREE.encode())
    assert causes(matches, JobLog(lines=1, exit_status=0)) == ()
    assert names(causes(matches, JobLog(lines=1, exit_status=1))) == ["free-memory-at-start"]


def test_exceptions_that_a_job_lived_through_are_no_cause(explain):
    lived = ["Traceback (most recent call last):", "KeyError: 'a'", "ERROR: could not warm the cache, going on"]
    assert explain(*lived, *["all is well"] * 60) == ()
    assert explain(*["all is well"] * 60, *lived) != ()
    assert explain(*lived, *["all is well"] * 60, RED) != ()


def test_what_fails_after_green_tests_is_found(explain):
    found = explain(
        START, "t.py::a PASSED", FREE, "============== 1 passed in 0.10s ==============", "No space left on device"
    )
    assert names(found) == ["disk-full"]


def test_a_log_without_any_failure_has_no_cause(explain):
    assert explain("error handling improved", "0 errors, 0 failures", "tests of failed retries pass") == ()


def failing_session(*captured: str, error: str = WRAPPER) -> list[str]:
    return [
        START,
        "collected 2 items",
        "tests/test_a.py::test_ok PASSED",
        "tests/test_a.py::test_bad FAILED",
        FAILURES,
        section("test_bad"),
        "    def test_bad():",
        ">       llm = start()",
        f"E       {error}",
        "---------------------------- Captured stderr call -----------------------------",
        *captured,
        SUMMARY,
        f"FAILED tests/test_a.py::test_bad - {error[:40]}...",
        "========================= 1 failed, 1 passed in 9.00s =========================",
        RED,
    ]


def test_a_cause_that_stands_only_in_captured_output_is_the_tests_cause(explain):
    found = explain(*failing_session(f"(EngineCore pid=9) ERROR 11-30 10:30:59 [core.py:1195] {FREE}"))
    assert [(cause.signature, cause.test) for cause in found] == [("free-memory-at-start", "tests/test_a.py::test_bad")]
    assert found[0].captures["requested_gib"] == 10.36


def test_a_copy_outside_of_the_test_counts_for_the_tests_event(explain):
    found = explain(FREE, *failing_session(FREE))
    assert [(cause.test, cause.count, cause.line) for cause in found] == [("tests/test_a.py::test_bad", 2, 1)]


def test_output_of_a_test_that_passed_is_no_cause(explain):
    session = failing_session(error="KeyError: 'a'")
    at = session.index("tests/test_a.py::test_ok PASSED")
    session[at : at + 1] = ["tests/test_a.py::test_ok ", "CUDA out of memory, as this test wants", "PASSED"]
    assert "torch-out-of-memory-bare" not in names(explain(*session))


def test_an_unknown_failure_is_titled_by_what_it_says_and_grouped(explain):
    one, other = (
        explain(*failing_session(error=f"KeyError: 'row {number} of /tmp/{number}/x.csv'")) for number in (7, 31)
    )
    assert one[0].title == "KeyError: 'row # of x.csv'"
    assert one[0].fingerprint == other[0].fingerprint != ""
    assert one[0].test == "tests/test_a.py::test_bad"


def test_the_title_of_a_long_message_is_shortened(explain):
    found = explain(f"ValueError: {'so many words ' * 40}", RED)
    assert (len(found[0].title) <= 120, found[0].title[-1]) == (True, "…")


def test_known_failures_have_no_fingerprint(explain):
    assert explain(FREE, RED)[0].fingerprint == ""


def test_a_retry_that_healed_is_no_cause_of_a_failed_comparison(explain):
    outage = "HTTP Error 504 thrown while requesting HEAD https://huggingface.co/a/b/resolve/main/config.json"
    found = explain(*failing_session(outage, "Retrying in 8s [Retry 4/5].", error="AssertionError: assert 3 == 4"))
    assert names(found) != ["huggingface-outage"]


def test_an_outage_in_a_tests_own_output_is_the_cause_of_its_exception(explain):
    outage = "HTTP Error 504 thrown while requesting HEAD https://huggingface.co/a/b/resolve/main/config.json"
    found = explain(*failing_session(outage, error="ValueError: Invalid repository ID or local directory specified"))
    assert [(cause.signature, cause.blame) for cause in found] == [("huggingface-outage", Blame.DEPENDENCY)]


def test_of_something_tried_again_in_the_same_words_the_last_try_is_the_place(explain):
    fetch = "fatal: couldn't find remote ref refs/heads/gone"
    found = explain(fetch, "Waiting 10 seconds before trying again", fetch, RED)
    assert [(cause.line, cause.count) for cause in found] == [(3, 2)]


def test_thousands_of_equal_failures_are_brought_together_quickly(explain):
    found = explain(*[f"FAILED t.py::test_{number % 700} - KeyError: {number}" for number in range(5000)], RED)
    assert len(found) == 700
    assert {cause.count for cause in found} == {7, 8}
