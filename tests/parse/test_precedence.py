"""Attempts file over report over log: worked out by hand for each way in which sources can disagree."""

from __future__ import annotations

from flake_report.model.joblog import JobLog
from flake_report.model.results import Attempt, Outcome, ResultSource, TestId
from flake_report.parse.precedence import best_source
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
