"""Verdicts on runs that are spelled out letter by letter; the letters stand in conftest.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake_report.model.evidence import JobState, RetryType
from flake_report.model.rate import RunVerdict, Streak
from flake_report.model.results import TestId
from flake_report.rate.runs import Fate, fleet, histories, verdict

PLAIN_PASSES = {
    "one pass": "P",
    "an expected failure": "X",
    "two passes, the job was run again": "P|P",
    "skipped first, then passed": "S|P",
}


@pytest.mark.parametrize("spelled", PLAIN_PASSES.values(), ids=PLAIN_PASSES.keys())
def test_a_plain_pass_is_counted_and_not_told(spelled, history) -> None:
    counted = history(spelled)
    assert counted.runs == ()
    assert counted.passes == (Streak(0, 0, 1),)


TOLD = {
    # what happened: spelled, verdict, first_failed, retried, recovered, victim
    "failed once, nothing more": ("F", "failed", True, False, False, False),
    "a crash is a failure": ("C", "failed", True, False, False, False),
    "failed on every attempt": ("FF|F", "failed", True, True, False, False),
    "passed on a rerun in the session": ("FP", "flaky", True, True, True, False),
    "passed on a rerun, whose report kept no message": ("wwP", "flaky", True, True, True, False),
    "passed on a job retry": ("F|P", "flaky", True, True, True, False),
    "passed first, failed when the job was run again": ("P|F", "flaky", False, False, False, False),
    "the environment failed it, and nothing else ran": ("V", "victim", False, False, False, True),
    "reruns before a victim lost their message and are victims too": ("wwV", "victim", False, False, False, True),
    "a wordless failure in another job than the victim is its own": ("w|V", "failed", True, False, False, True),
    "a wordless failure after the victim is its own": ("Vw", "failed", True, False, False, True),
    "a failure with a message of its own stays its own": ("FV", "failed", True, False, False, True),
    "a victim that passed on retry is no flake": ("V|P", "passed", False, False, False, True),
    "a victim, then it failed and passed by itself": ("V|FP", "flaky", True, True, True, True),
    "passed in a job that died": ("P!", "lost", False, False, False, False),
    "failed in a job that died": ("F!", "lost", False, False, False, False),
    "a failure seen only in a lost job makes no flip": ("F!|P", "passed", False, False, False, False),
    "nor does a pass seen only there": ("P!|F", "failed", True, False, False, False),
    "a victim in a job that died is still a victim": ("V!", "victim", False, False, False, True),
    "lost, then skipped": ("P!|S", "lost", False, False, False, False),
}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD.keys())
def test_a_run_is_judged_by_its_own_attempts(told, history) -> None:
    spelled, verdict, *marks = told
    (run,) = history(spelled).runs
    assert run.verdict is RunVerdict(verdict)
    assert [run.first_failed, run.retried, run.recovered, run.victim] == marks


def test_a_skipped_run_is_counted_apart(history) -> None:
    counted = history("S", "S", "P")
    assert counted.skips == (Streak(0, 1, 2),)
    assert counted.passes == (Streak(2, 2, 1),)


def test_a_run_of_nothing_but_skips_is_skipped() -> None:
    assert verdict([Fate.SKIPPED, Fate.SKIPPED]) is RunVerdict.SKIPPED


def test_a_skipped_test_in_a_job_that_died_is_skipped(history) -> None:
    assert history("S!").skips == (Streak(0, 0, 1),)


def test_streaks_reach_from_told_run_to_told_run(history) -> None:
    counted = history("P", "P", "F", "P", "S", "P", "V", "S")
    assert [run.order for run in counted.runs] == [2, 6]
    assert counted.passes == (Streak(0, 1, 2), Streak(3, 5, 2))
    assert counted.skips == (Streak(4, 4, 1), Streak(7, 7, 1))


def test_a_run_names_its_own_failure_before_the_victims(history) -> None:
    (run,) = history("V|F|P").runs
    assert (run.signature, run.fingerprint, run.agent) == ("assertion", "print-F", "agent-1")


def test_a_run_without_own_failure_names_what_hit_it(history) -> None:
    (run,) = history("wV|P").runs
    assert (run.signature, run.fingerprint, run.agent) == ("gpu-memory", "print-V", "agent-0")


def test_a_lost_run_names_where_it_began_and_no_cause(history) -> None:
    (run,) = history("F!|P!").runs
    assert (run.signature, run.fingerprint, run.agent) == ("", "", "agent-0")


def test_a_run_says_who_asked_for_the_job_retry(history) -> None:
    assert [run.retry_type for run in history("FP", "F|P").runs] == [None, RetryType.AUTOMATIC]


def test_in_a_chain_of_retries_the_first_one_says_who_asked(recorded) -> None:
    first, automatic, manual = recorded("F|F|P", 0)
    by_hand = replace(manual, job=replace(manual.job, retry_type=RetryType.MANUAL))
    (history,) = histories([by_hand, automatic, first])  # the order of records does not matter
    (run,) = history.runs
    assert (run.retry_type, run.first_failed, run.recovered) == (RetryType.AUTOMATIC, True, True)
    (history,) = histories([first, replace(by_hand, job=replace(by_hand.job, attempt=1))])
    assert history.runs[0].retry_type is RetryType.MANUAL


def test_shards_of_one_step_are_one_pool_and_each_runs_its_own_tests(recorded) -> None:
    (one,) = recorded("F", 0)
    other_test = one.attempts[0].attempt._replace(test=TestId("v1.test_x", "test_z"))
    other = replace(
        one,
        job=replace(one.job, id="shard-2", shard="2/2"),
        attempts=(one.attempts[0]._replace(attempt=other_test),),
    )
    found = fleet([replace(one, job=replace(one.job, shard="1/2")), other])
    assert [history.variant.test.name for history in found.histories] == ["test_y", "test_z"]
    assert [(pool.step, pool.orders) for pool in found.pools] == [("unit", (0,))]


def test_a_soft_failure_of_a_job_is_a_failure_of_its_tests_all_the_same(recorded) -> None:
    (one,) = recorded("F", 0)
    (history,) = histories([replace(one, job=replace(one.job, soft_failed=True))])
    assert history.runs[0].verdict is RunVerdict.FAILED


@pytest.mark.parametrize("state", [JobState.CANCELED, JobState.TIMED_OUT, JobState.EXPIRED])
def test_what_ran_in_a_job_that_was_ended_from_outside_is_lost(state, recorded) -> None:
    (one,) = recorded("F", 0)
    (history,) = histories([replace(one, job=replace(one.job, state=state))])
    assert history.runs[0].verdict is RunVerdict.LOST
