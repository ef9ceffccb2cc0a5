"""Result lines of go test, cargo test, nextest and ctest: real runs, against what the same tools write for machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from flake_report.model.joblog import JobLog
from flake_report.model.results import Attempt, Outcome, TestId

Read = Callable[[bytes], JobLog]
Fixture = Callable[[str], str]
GO = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}


def outcomes(log: JobLog) -> dict[TestId, Outcome]:
    return {attempt.test: attempt.outcome for attempt in log.attempts}


def events(text: str) -> list[tuple[TestId, Outcome]]:
    """Events of go itself, read here with nothing but json."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            event = json.loads(line)
            if "Test" in event and event["Action"] in GO:
                found.append((TestId(event["Package"], event["Test"]), GO[event["Action"]]))
    return found


def test_go_s_verbose_lines_tell_what_its_events_tell(outline: Read, log_fixture: Fixture) -> None:
    log = outline(log_fixture("go_verbose.txt").encode())
    truth = dict(events(log_fixture("go_events.json")))
    assert outcomes(log) == truth
    (session,) = log.sessions
    tally = Counter(truth.values())
    assert (session.passed, session.failed, session.skipped) == (
        tally[Outcome.PASSED],
        tally[Outcome.FAILED],
        tally[Outcome.SKIPPED],
    )


def test_go_s_quiet_lines_tell_the_failures(outline: Read, log_fixture: Fixture) -> None:
    log = outline(log_fixture("go_quiet.txt").encode())
    truth = {test: one for test, one in events(log_fixture("go_events.json")) if one is Outcome.FAILED}
    assert outcomes(log) == truth


@pytest.mark.parametrize(
    "name",
    [
        "gotest-go-test-json-flaky-rerun.out",
        "gotest-go-test-json-with-parallel-fails.out",
        "gotest-go-test-missing-run-events.out",
        "gotest-go-test-json-with-nonjson-stdout.out",
    ],
)
def test_go_s_events_in_a_log_are_its_attempts_in_order(name: str, corpus: Path, outline: Read) -> None:
    data = (corpus / "logs" / name).read_bytes()
    truth = [(test, one) for test, one in _readable_events(data)]
    assert [(attempt.test, attempt.outcome) for attempt in outline(data).attempts] == truth


def _readable_events(data: bytes) -> list[tuple[TestId, Outcome]]:
    return events("\n".join(line for line in data.decode().splitlines() if line.endswith("}")))


def test_a_rerun_in_go_s_events_is_a_further_attempt(corpus: Path, outline: Read) -> None:
    log = outline((corpus / "logs" / "gotest-go-test-json-flaky-rerun.out").read_bytes())
    often = [attempt for attempt in log.attempts if attempt.test.name == "TestFailsOften"]
    assert [(attempt.number, attempt.outcome.bad) for attempt in often] == [(0, True), (1, True), (2, True), (3, False)]


def test_a_package_that_passed_and_comes_again_is_another_session(outline: Read) -> None:
    run = b"--- PASS: TestX (0.01s)\nok  \texample.org/x\t0.02s\n"
    log = outline(run + run)
    assert [session.passed for session in log.sessions] == [1, 1]
    assert [(attempt.session, attempt.number) for attempt in log.attempts] == [("1", 0), ("2", 0)]


@pytest.mark.parametrize("name", ["cargo.txt", "cargo_colour.txt"])
def test_cargo_s_lines_add_up_to_its_totals(name: str, outline: Read, log_fixture: Fixture) -> None:
    log = outline(log_fixture(name).encode())
    (session,) = log.sessions
    tally = Counter(attempt.outcome for attempt in log.attempts)
    assert (session.passed, session.failed, session.skipped) == (4, 1, 1)
    assert (tally[Outcome.PASSED], tally[Outcome.FAILED], tally[Outcome.SKIPPED]) == (4, 1, 1)
    assert outcomes(log)[TestId("cg", "tests::fails")] is Outcome.FAILED
    assert outcomes(log)[TestId("outer", "passes_outside")] is Outcome.PASSED
    assert outcomes(log)[TestId("cg (doc)", "src/lib.rs - add (line 5)")] is Outcome.PASSED
    assert outcomes(log)[TestId("cg", "tests::panics_as_it_should")] is Outcome.PASSED


def test_nextest_s_lines_add_up_to_its_summary(corpus: Path, outline: Read) -> None:
    log = outline((corpus / "logs" / "nextest-replay.ansi").read_bytes())
    (session,) = log.sessions
    assert (session.runner, session.passed, session.skipped) == ("cargo nextest", 6, 445)
    assert len(log.attempts) == 6
    assert log.attempts[0].test == TestId(
        "nextest-runner", "reporter::events::tests::abort_description_from_abort_status"
    )


def test_nextest_s_tries_are_attempts_and_its_repeated_failures_are_not(outline: Read) -> None:
    log = outline(
        b"  TRY 1 FAIL [   0.006s] (1/2) core flaky\n"
        b"  TRY 2 PASS [   0.005s] (1/2) core flaky\n"
        b"     SIGSEGV [   0.100s] (2/2) core::bin/tool crash\n"
        b"     Summary [   0.111s] 2 tests run: 1 passed (1 flaky), 1 failed, 0 skipped\n"
        b"     SIGSEGV [   0.100s] (2/2) core::bin/tool crash\n"
    )
    assert [(one.test.name, one.number, one.outcome) for one in log.attempts] == [
        ("flaky", 0, Outcome.FAILED),
        ("flaky", 1, Outcome.PASSED),
        ("crash", 0, Outcome.CRASHED),
    ]


def test_ctest_s_lines_tell_what_its_junit_tells(outline: Read, log_fixture: Fixture) -> None:
    log = outline(log_fixture("ctest.txt").encode())
    cases = {case.get("name"): case.get("status") for case in etree.fromstring(log_fixture("ctest_junit.xml").encode())}
    read: dict[str, Attempt] = {attempt.test.name: attempt for attempt in log.attempts}
    assert set(read) == set(cases)
    kinds = {
        "run": {Outcome.PASSED},
        "fail": {Outcome.FAILED, Outcome.CRASHED},
        "disabled": {Outcome.SKIPPED},
        "notrun": {Outcome.SKIPPED, Outcome.ERROR},
    }
    for name, status in cases.items():
        assert read[name].outcome in kinds[status], name
    listed = log_fixture("ctest.txt").partition("The following tests FAILED:")[2].splitlines()
    failed = {line.split(" - ")[1].split(" (")[0] for line in listed if " - " in line}
    assert {name for name, attempt in read.items() if attempt.outcome.bad} == failed
    (session,) = log.sessions
    assert (session.passed, session.failed, session.skipped) == (1, 6, 2)


def test_ctest_s_repeats_are_attempts(outline: Read, log_fixture: Fixture) -> None:
    log = outline(log_fixture("ctest_repeat.txt").encode())
    assert [(one.test.name, one.number, one.outcome) for one in log.attempts] == [
        ("passes", 0, Outcome.PASSED),
        ("flaky", 0, Outcome.FAILED),
        ("flaky", 1, Outcome.PASSED),
    ]
    assert (log.sessions[0].passed, log.sessions[0].failed) == (2, 0)


def test_runners_inside_a_pytest_session_are_its_tests_output(outline: Read) -> None:
    log = outline(
        b"============================= test session starts ==============================\n"
        b"tests/test_go.py::test_build --- PASS: TestX (0.01s)\nok  \texample.org/x\t0.02s\nPASSED\n"
        b"==== 1 passed in 0.10s ====\n"
    )
    assert [session.runner for session in log.sessions] == ["pytest"]
    assert [attempt.test.name for attempt in log.attempts] == ["test_build"]
