"""Attempts file over report over log: worked out by hand for each way in which sources can disagree."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake_report.model.joblog import JobLog, Session
from flake_report.model.results import Attempt, Outcome, ResultSource, TestId
from flake_report.parse import precedence
from flake_report.parse.precedence import best_source
from flake_report.parse.reports import read_report
from flake_report.parse.sessions import ReportFile

A = TestId("v1.test_x", "test_a")
B = TestId("v1.test_x", "test_b")
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
FILE, REPORT, LOG = ResultSource.ATTEMPTS, ResultSource.REPORT, ResultSource.LOG


def attempt(test: TestId, outcome: Outcome, source: ResultSource, key: str = "", **more: object) -> Attempt:
    return Attempt(test=test, outcome=outcome, source=source, session_key=key, **more)


def log(*attempts: Attempt) -> JobLog:
    return JobLog(lines=1, attempts=attempts)


def best(attempts: list[Attempt], seen: JobLog) -> list[Attempt]:
    """Of one attempts file and one report."""
    recorded = [one for one in attempts if one.source is FILE]
    reported = [one for one in attempts if one.source is REPORT]
    return best_source([ReportFile("attempts.jsonl", recorded), ReportFile("out/junit.xml", reported)], seen)


def told(attempts: list[Attempt]) -> list[tuple[TestId, Outcome, ResultSource]]:
    return [(one.test, one.outcome, one.source) for one in attempts]


def test_a_report_beats_the_log() -> None:
    kept = best([attempt(A, FAILED, REPORT)], log(attempt(A, FAILED, LOG, "k"), attempt(B, PASSED, LOG, "k")))
    assert sorted(told(kept)) == [(A, FAILED, REPORT), (B, PASSED, LOG)]


def test_a_report_takes_the_session_in_which_the_log_saw_its_test() -> None:
    [kept] = best([attempt(A, PASSED, REPORT)], log(attempt(A, PASSED, LOG, "k")))
    assert kept.session_key == "k"


def test_the_attempts_file_beats_both_and_keeps_every_attempt() -> None:
    recorded = [attempt(A, FAILED, FILE, "k", number=0), attempt(A, PASSED, FILE, "k", number=1)]
    kept = best([*recorded, attempt(A, PASSED, REPORT)], log(attempt(A, PASSED, LOG, "k")))
    assert kept == recorded


def test_where_workers_are_told_apart_report_and_log_that_cannot_add_no_attempts() -> None:
    first, second = (TestId(A.classname, A.name, worker) for worker in ("gw0", "gw1"))
    recorded = [attempt(first, PASSED, FILE, "k"), attempt(second, FAILED, FILE, "k")]
    reported = [attempt(A, FAILED, REPORT), attempt(A, PASSED, REPORT)]
    seen = log(attempt(A, PASSED, LOG, "k"), attempt(A, FAILED, LOG, "k"), attempt(A, PASSED, LOG, "another"))
    kept = best([*recorded, *reported], seen)
    assert told(kept) == [(first, PASSED, FILE), (second, FAILED, FILE), (A, PASSED, LOG)]


def test_the_log_alone_gives_the_results() -> None:
    assert told(best([], log(attempt(A, PASSED, LOG, "k")))) == [(A, PASSED, LOG)]


def test_a_failed_attempt_that_the_report_lost_the_text_of_gets_it_back_from_the_log() -> None:
    reported = [attempt(A, FAILED, REPORT, number=0), attempt(A, PASSED, REPORT, number=1)]
    seen = log(attempt(A, FAILED, LOG, "k", message="E boom", number=0), attempt(A, PASSED, LOG, "k", number=1))
    first, last = best(reported, seen)
    assert (first.message, first.source) == ("E boom", REPORT)
    assert last.message == ""


def test_text_is_paired_from_the_last_attempt_back() -> None:
    # The log lost the first attempt: its one line is the final attempt, not the first.
    reported = [attempt(A, FAILED, REPORT, number=0), attempt(A, FAILED, REPORT, number=1)]
    first, last = best(reported, log(attempt(A, FAILED, LOG, "k", message="final")))
    assert (first.message, last.message) == ("", "final")


def test_a_message_of_the_better_source_is_not_replaced() -> None:
    [kept] = best([attempt(A, FAILED, REPORT, message="mine")], log(attempt(A, FAILED, LOG, "k", message="other")))
    assert kept.message == "mine"


def test_a_log_that_names_each_rerun_beats_a_report_that_lost_them() -> None:
    # pytest-rerunfailures leaves an empty, passed-looking element for the rerun: the report cannot tell.
    reported = [attempt(A, PASSED, REPORT, known=False)]
    seen = [attempt(A, FAILED, LOG, "k", number=0, message="boom"), attempt(A, PASSED, LOG, "k", number=1)]
    kept = best(reported, log(*seen))
    assert [(one.outcome, one.known) for one in kept] == [(FAILED, True), (PASSED, True)]


def test_order_and_worker_of_a_pass_come_from_the_log() -> None:
    [kept] = best([attempt(A, PASSED, REPORT)], log(attempt(A, PASSED, LOG, "k", position=7, worker="gw1")))
    assert (kept.position, kept.worker, kept.source) == (7, "gw1", REPORT)


def test_a_test_that_ran_in_two_sessions_stays_two_runs() -> None:
    kept = best([], log(attempt(A, PASSED, LOG, "one"), attempt(A, FAILED, LOG, "two")))
    assert sorted(one.session_key for one in kept) == ["one", "two"]


def test_a_report_of_a_test_of_two_sessions_is_kept_and_marked_unknown() -> None:
    [kept] = best([attempt(A, FAILED, REPORT)], log(attempt(A, PASSED, LOG, "one"), attempt(A, FAILED, LOG, "two")))
    assert (kept.source, kept.known, kept.session_key) == (REPORT, False, "")


def test_attempts_files_of_two_sessions_need_no_report() -> None:
    recorded = [attempt(A, PASSED, FILE, "one"), attempt(A, FAILED, FILE, "two")]
    assert best([*recorded, attempt(A, FAILED, REPORT)], log()) == recorded


def test_two_recorded_sessions_of_one_command_stay_apart_in_order_of_time() -> None:
    late = attempt(A, FAILED, FILE, "pytest v1", session="2026-11-30T10:00:00Z-7")
    early = attempt(A, PASSED, FILE, "pytest v1", session="2026-11-30T09:00:00Z-9")
    kept = best([late, early], log())
    assert {one.session_key: one.outcome for one in kept} == {"pytest v1": PASSED, "pytest v1 #2": FAILED}


def reports(**outcomes: Outcome) -> list[ReportFile]:
    """Reports that each tell of one attempt of `A`."""
    return [ReportFile(f"{name}.xml", [attempt(A, outcome, REPORT)]) for name, outcome in outcomes.items()]


def one_session(command: str, *attempts: Attempt) -> JobLog:
    key = command.partition(" --")[0]
    return JobLog(lines=1, sessions=(Session("pytest", 1, 9, command=command, key=key),), attempts=attempts)


def runs(kept: list[Attempt]) -> list[tuple[str, Outcome, bool]]:
    return sorted((one.session_key, one.outcome, one.known) for one in kept)


def test_one_test_in_two_reports_of_unknown_sessions_is_two_runs_of_unknown_attempts() -> None:
    kept = best_source(reports(a=FAILED, b=PASSED), JobLog(lines=0))
    assert runs(kept) == [("a.xml", FAILED, False), ("b.xml", PASSED, False)]
    assert [one.session for one in kept] == ["a.xml", "b.xml"]


def test_the_same_report_of_the_next_build_is_the_same_run_whatever_the_order_of_files() -> None:
    first = best_source(reports(a=FAILED, b=PASSED), JobLog(lines=0))
    second = best_source(reports(b=PASSED, a=PASSED), JobLog(lines=0))
    assert {one.session_key for one in first} == {one.session_key for one in second}


def test_two_suites_of_one_report_are_two_sessions() -> None:
    suites = [attempt(A, FAILED, REPORT, session="1"), attempt(A, PASSED, REPORT, session="2")]
    kept = best_source([ReportFile("a.xml", suites)], JobLog(lines=0))
    assert runs(kept) == [("a.xml", FAILED, False), ("a.xml #2", PASSED, False)]


def test_a_test_of_one_report_alone_stays_known_and_without_a_session() -> None:
    files = [ReportFile("a.xml", [attempt(A, FAILED, REPORT)]), ReportFile("b.xml", [attempt(B, PASSED, REPORT)])]
    assert runs(best_source(files, JobLog(lines=0))) == [("", FAILED, True), ("", PASSED, True)]


def test_attempts_within_one_report_stay_attempts_of_one_run() -> None:
    file = ReportFile("a.xml", [attempt(A, FAILED, REPORT), attempt(A, PASSED, REPORT, number=1)])
    assert [(one.number, one.known) for one in best_source([file], JobLog(lines=0))] == [(0, True), (1, True)]


def test_two_copies_of_the_report_that_a_session_names_count_once() -> None:
    files = [ReportFile(f"{folder}/a.xml", [attempt(A, FAILED, REPORT)]) for folder in ("out", "upload")]
    kept = best_source(files, one_session("pytest --junitxml=a.xml", attempt(A, FAILED, LOG, "pytest", session="1")))
    assert runs(kept) == [("pytest", FAILED, True)]


def test_two_reports_of_one_session_that_differ_are_no_flip() -> None:
    seen = one_session("pytest", attempt(A, FAILED, LOG, "pytest", session="1"))
    assert runs(best_source(reports(a=FAILED, b=PASSED), seen)) == [("a.xml", FAILED, False), ("b.xml", PASSED, False)]


def test_a_report_beside_the_one_that_the_session_names_is_another_run() -> None:
    seen = one_session("pytest --junitxml=a.xml", attempt(A, PASSED, LOG, "pytest", session="1"))
    assert runs(best_source(reports(a=PASSED, b=FAILED), seen)) == [("", FAILED, False), ("pytest", PASSED, True)]


def test_a_failure_in_the_log_of_another_session_outlives_a_recorded_pass() -> None:
    files = [
        ReportFile("attempts.jsonl", [attempt(A, PASSED, FILE, "a", session="t1")]),
        ReportFile("lost.xml", [attempt(A, PASSED, REPORT)]),
    ]
    kept = best_source(files, log(attempt(A, FAILED, LOG, "b", session="2")))
    assert runs(kept) == [("a", PASSED, True), ("b", FAILED, True)]


def test_a_report_that_no_recorded_session_ended_like_is_of_yet_another() -> None:
    files = [ReportFile("attempts.jsonl", [attempt(A, PASSED, FILE, "a", session="t1")]), *reports(b=FAILED)]
    assert runs(best_source(files, JobLog(lines=0))) == [("", FAILED, False), ("a", PASSED, True)]


def test_a_failure_in_the_log_stays_beside_a_report_that_passed() -> None:
    seen = log(attempt(A, PASSED, LOG, "one"), attempt(A, FAILED, LOG, "two"))
    assert runs(best([attempt(A, PASSED, REPORT)], seen)) == [("", PASSED, False), ("two", FAILED, True)]


def test_an_attempts_file_that_lost_a_line_still_wins() -> None:
    recorded = [attempt(A, PASSED, FILE, "k", session="t1", known=False)]
    seen = log(attempt(A, PASSED, LOG, "k", position=3))
    [kept] = best([*recorded, attempt(A, PASSED, REPORT)], seen)
    assert (kept.source, kept.known, kept.position) == (FILE, False, 3)


def test_nameless_cases_of_two_files_are_not_one_test() -> None:
    nameless = TestId("c", "", "#1")
    files = [ReportFile(name, [attempt(nameless, FAILED, REPORT)]) for name in ("a.xml", "b.xml")]
    kept = best_source(files, JobLog(lines=0))
    assert [(one.test.apart, one.known) for one in kept] == [("a.xml #1", True), ("b.xml #1", True)]


def test_nameless_cases_of_one_file_keep_their_order_as_their_name() -> None:
    cases = [attempt(TestId("c", "", f"#{order}"), FAILED, REPORT) for order in (1, 2)]
    assert [one.test.apart for one in best_source([ReportFile("a.xml", cases)], JobLog(lines=0))] == ["#1", "#2"]


def test_report_files_as_pytest_writes_them_give_no_flip_between_two_sessions() -> None:
    files = []
    for name, inside in (("one.xml", '<failure message="boom"/>'), ("two.xml", "")):
        attempts: list[Attempt] = []
        text = f'<testsuite name="pytest" tests="1"><testcase classname="v1.x" name="t">{inside}</testcase></testsuite>'
        read_report(name, [text.encode()], attempts.append)
        files.append(ReportFile(name, attempts))
    kept = best_source(files, JobLog(lines=0))
    assert runs(kept) == [("one.xml", FAILED, False), ("two.xml", PASSED, False)]


def test_a_guessed_session_that_was_recorded_to_pass_is_not_the_one_that_a_report_says_failed() -> None:
    recorded = ReportFile("attempts.jsonl", [attempt(A, PASSED, FILE, "pytest", session="t1")])
    seen = one_session("pytest", attempt(A, PASSED, LOG, "pytest", session="1"))
    assert runs(best_source([recorded, *reports(a=FAILED)], seen)) == [("", FAILED, False), ("pytest", PASSED, True)]


def test_two_suites_of_the_report_that_a_session_names_are_no_copies() -> None:
    suites = [attempt(A, FAILED, REPORT, session=order) for order in ("1", "2")]
    kept = best_source([ReportFile("a.xml", suites)], one_session("pytest --junitxml=a.xml"))
    assert runs(kept) == [("a.xml", FAILED, False), ("a.xml #2", FAILED, False)]


def test_two_reports_that_no_command_names_are_no_copies() -> None:
    assert runs(best_source(reports(a=PASSED, b=PASSED), one_session("pytest"))) == [
        ("a.xml", PASSED, False),
        ("b.xml", PASSED, False),
    ]


def test_a_report_that_passed_does_not_hide_the_failure_of_a_session_without_a_command() -> None:
    seen = log(attempt(A, FAILED, LOG, session="1"), attempt(A, PASSED, LOG, session="2"))
    assert runs(best_source(reports(a=PASSED), seen)) == [("", FAILED, True), ("a.xml", PASSED, False)]


def test_of_two_copies_of_an_attempts_file_the_longer_is_kept() -> None:
    whole = [attempt(test, PASSED, FILE, "k", session="t1") for test in (A, B)]
    for copies in ((whole, whole[:1]), (whole[:1], whole)):
        files = [ReportFile(f"{place}.jsonl", copy) for place, copy in enumerate(copies)]
        assert best_source(files, JobLog(lines=0)) == whole


def test_a_report_that_says_its_recorded_session_goes_with_it() -> None:
    recorded = [attempt(A, PASSED, FILE, key, session=start) for key, start in (("a", "t1"), ("b", "t2"))]
    said = attempt(A, FAILED, REPORT, session="t2", seconds=2.5)
    kept = best_source([ReportFile("x.jsonl", recorded), ReportFile("x.xml", [said])], JobLog(lines=0))
    assert [(one.session_key, one.outcome, one.seconds) for one in kept] == [("a", PASSED, None), ("b", PASSED, 2.5)]


def test_the_attempts_of_a_test_stand_together_where_its_report_has_others_between_them() -> None:
    first, other, last = attempt(A, FAILED, REPORT), attempt(B, PASSED, REPORT), attempt(A, PASSED, REPORT, number=1)
    assert best([first, other, last], log()) == [first, last, other]


KINDS = st.sampled_from([TestId("m", name) for name in ("a", "b", "c", "")])
SEEN = st.lists(st.tuples(KINDS, st.sampled_from([PASSED, FAILED]), st.sampled_from(["", "1"])), max_size=4)
NAMES = st.sampled_from(["junit.xml", "out/junit.xml", "junit-1234.xml"])
COMMANDS = st.sampled_from(["", "pytest", "pytest --junitxml=junit.xml"])


@given(
    reported=st.lists(st.tuples(NAMES, SEEN), max_size=3),
    recorded=SEEN,
    logged=SEEN,
    commands=st.lists(COMMANDS, max_size=2),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_nobody_else_tells_of_is_kept_as_if_it_had_been_compared(
    monkeypatch: pytest.MonkeyPatch,
    reported: list[tuple[str, list[tuple[TestId, Outcome, str]]]],
    recorded: list[tuple[TestId, Outcome, str]],
    logged: list[tuple[TestId, Outcome, str]],
    commands: list[str],
) -> None:
    files = [ReportFile(name, [attempt(*one[:2], REPORT, session=one[2]) for one in seen]) for name, seen in reported]
    files.append(ReportFile("attempts.jsonl", [attempt(*one[:2], FILE, "k", session="s") for one in recorded]))
    sessions = [Session("pytest", at * 9, at * 9 + 8, command, key=command) for at, command in enumerate(commands, 1)]
    lines = [attempt(*one[:2], LOG, commands[0], session="1") for one in logged if commands]
    seen = JobLog(lines=99, sessions=tuple(sessions), attempts=tuple(lines))
    with monkeypatch.context() as patched:
        patched.setattr(precedence, "_disjoint", lambda *_told: False)
        compared = best_source(files, seen)
    assert best_source(files, seen) == compared


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from(["", "1", "2"])), max_size=12))
def test_a_report_alone_gives_all_its_attempts_those_of_one_test_together(given: list[tuple[str, bool, str]]) -> None:
    attempts = [
        # Equal tests are one object or several: a reader may make either.
        attempt(TestId("m", name) if fresh else {"a": A, "b": B, "c": A}[name], PASSED, REPORT, session=session)
        for name, fresh, session in given
    ]
    kept = best_source([ReportFile("junit.xml", attempts)], JobLog(lines=0))
    alone = {session for _, _, session in given}
    if len(alone) < 2:
        order = list(dict.fromkeys(one.test for one in attempts))
        assert kept == sorted(attempts, key=lambda one: order.index(one.test))
    assert len(kept) == len(attempts)
