"""The failures of one build, each against a history that is written down here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from flake_report.model.evidence import Build, Job, JobState, LogMode
from flake_report.model.failure import Blame, Cause, Diagnosis, DiagnosisKind, Signature
from flake_report.model.known import KnownFailures, KnownIncident, KnownTest, KnownWay
from flake_report.model.rate import Variant
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome, TestId
from flake_report.model.triage import FailureKind, Triage
from flake_report.model.verdict import TestVerdict
from flake_report.rate.triage import triage

BUILD = Build("acme", "ci", "812", 812, "c", "main", "webhook", datetime(2026, 11, 30, tzinfo=UTC), "failed")
TEST = TestId("v1.x", "t[a]")
JOB = Job(
    "job-1", "unit", ":pytest: unit", "l4", "l4-1", "", JobState.FAILED, 1, "", soft_failed=False, attempt=0,
    retry_type=None, retry_of=None, shard="", started_at=None, finished_at=None, command="",
)  # fmt: skip
SIGNATURES = {
    "free-memory": Signature(
        "free-memory", "too little free when the engine started", Blame.GPU_MEMORY, "", "", "", ""
    ),
}


def attempt(outcome: Outcome = Outcome.FAILED, fingerprint: str = "", **fields: Any) -> ClassifiedAttempt:
    signature, blame = fields.pop("signature", ""), fields.pop("blame", "")
    return ClassifiedAttempt(Attempt(TEST, outcome, fingerprint=fingerprint, **fields), signature, blame)


def record(*attempts: ClassifiedAttempt, causes: Sequence[Cause] = (), **fields: Any) -> JobRecord:
    job = replace(JOB, **fields)
    return JobRecord(BUILD, job, attempts, tuple(causes), (), (), (), (), LogMode.ALL, Versions("1", "1", "1"))


def known(verdict: TestVerdict = TestVerdict.FLAKY, *ways: KnownWay, **place: str) -> KnownFailures:
    variant = Variant(TEST, place.get("step", "unit"), place.get("queue", "l4"), "")
    row = KnownTest(variant, verdict, "so it is", 100, 100, 7, 0.07, 0, ways=ways)
    return KnownFailures(60, tests=(row,), incidents=())


FLAKE = KnownWay("aa", 7, flake=True, last="build 790", url="https://buildkite.com/acme/ci/builds/790#job-9")
ONCE = KnownWay("cc", 1, flake=False, last="build 700")


def kind_and_why(found: Triage) -> tuple[FailureKind, str]:
    (failure,) = found.failures
    return failure.kind, failure.why


def test_a_known_flake_is_told_as_one_with_its_rate_and_where_it_was_met_last() -> None:
    found = triage([record(attempt(fingerprint="aa"))], known(TestVerdict.FLAKY, FLAKE))
    assert kind_and_why(found) == (FailureKind.FLAKE, "so it is; first attempts fail in 7 of 100 runs")
    assert found.failures[0].seen == "https://buildkite.com/acme/ci/builds/790#job-9"


def test_a_known_flaky_test_that_fails_in_another_way_is_new() -> None:
    found = triage([record(attempt(fingerprint="bb"))], known(TestVerdict.FLAKY, FLAKE))
    assert kind_and_why(found) == (
        FailureKind.NEW, "it never failed in this way; it is known as flaky: so it is",
    )  # fmt: skip


def test_one_attempt_in_another_way_is_enough() -> None:
    tried = (attempt(fingerprint="aa"), attempt(fingerprint="bb", number=1))
    assert triage([record(*tried)], known(TestVerdict.FLAKY, FLAKE)).failures[0].kind is FailureKind.NEW


def test_a_test_that_never_failed_is_new() -> None:
    found = triage([record(attempt(fingerprint="aa"))], KnownFailures(60))
    assert kind_and_why(found) == (FailureKind.NEW, "no failure of its own is known from 60 builds")


def test_a_test_that_was_only_ever_a_victim_is_new() -> None:
    assert triage([record(attempt(fingerprint="aa"))], known(TestVerdict.HEALTHY)).failures[0].kind is FailureKind.NEW


def test_a_broken_test_is_a_regression_that_is_known() -> None:
    broken = known(TestVerdict.BROKEN, replace(ONCE, fingerprint="aa"))
    assert kind_and_why(triage([record(attempt(fingerprint="aa"))], broken)) == (
        FailureKind.REGRESSION, "broken: so it is",
    )  # fmt: skip


def test_a_failure_that_was_seen_and_could_not_be_told_stays_unclear() -> None:
    found = triage([record(attempt(fingerprint="cc"))], known(TestVerdict.SUSPECT, ONCE))
    assert kind_and_why(found) == (
        FailureKind.UNCLEAR, "it failed so before, last in build 700; unknown, suspect: so it is",
    )  # fmt: skip


def test_a_failure_without_a_fingerprint_is_never_excused() -> None:
    found = triage([record(attempt())], known(TestVerdict.FLAKY, FLAKE))
    assert kind_and_why(found) == (
        FailureKind.UNCLEAR, "its message is cut short, so that it is like no other; flaky: so it is",
    )  # fmt: skip


def test_without_history_nothing_is_called_new() -> None:
    found = triage([record(attempt(fingerprint="aa"))], None)
    assert kind_and_why(found) == (FailureKind.UNCLEAR, "there is no history to compare it with")


def test_what_flakes_on_another_queue_is_new_on_this_one() -> None:
    elsewhere = known(TestVerdict.FLAKY, FLAKE, queue="mi325")
    assert triage([record(attempt(fingerprint="aa"))], elsewhere).failures[0].kind is FailureKind.NEW


def test_where_the_step_is_not_known_what_is_known_of_the_test_anywhere_counts() -> None:
    found = triage([record(attempt(fingerprint="aa"), step="0a-job", queue="")], known(TestVerdict.FLAKY, FLAKE))
    assert found.failures[0].kind is FailureKind.FLAKE


def test_a_passing_rerun_or_retry_leaves_no_failure() -> None:
    rerun = record(attempt(fingerprint="aa"), attempt(Outcome.PASSED, number=1), exit_status=0, state=JobState.PASSED)
    first = record(attempt(fingerprint="aa"))
    retry = record(
        attempt(Outcome.PASSED), id="job-2", attempt=1, retry_of="job-1", state=JobState.PASSED, exit_status=0
    )
    for records in ([rerun], [first, retry]):
        found = triage(records, known(TestVerdict.FLAKY, FLAKE))
        assert found.failures == ()
        assert [(one.variant.test, one.job.id, one.flake) for one in found.recovered] == [(TEST, "job-1", True)]


def test_the_pass_of_one_unknown_job_mends_nothing_in_another() -> None:
    unknown = {"state": JobState.UNKNOWN, "exit_status": None, "queue": ""}
    records = [record(attempt(fingerprint="aa"), **unknown), record(attempt(Outcome.PASSED), id="job-2", **unknown)]
    found = triage(records, KnownFailures(60))
    assert [failure.job.id for failure in found.failures] == ["job-1"]
    assert (found.recovered, found.tests) == ((), 2)


def test_a_retry_that_fails_again_is_one_failure_in_the_last_job() -> None:
    retry = record(attempt(fingerprint="aa"), id="job-2", attempt=1, retry_of="job-1")
    (failure,) = triage([record(attempt(fingerprint="aa")), retry], known(TestVerdict.FLAKY, FLAKE)).failures
    assert failure.job.id == "job-2"


def test_a_victim_is_the_environments_with_the_diagnosis_of_its_log_and_its_past() -> None:
    diagnosis = Diagnosis(DiagnosisKind.SAME_PROCESS, "held by this pytest process", "shut the engine down")
    cause = Cause(
        "free-memory", "x", Blame.GPU_MEMORY, 7, "Free memory …", "h", test="tests/v1/x.py::t[a]", diagnosis=diagnosis
    )
    incident = KnownIncident("free-memory", "", Blame.GPU_MEMORY, 5, 9, datetime(2026, 11, 3, tzinfo=UTC), None)
    history = KnownFailures(60, incidents=(incident,))
    victim = attempt(signature="free-memory", blame="gpu-memory", message="Free memory …")
    found = triage([record(victim, causes=[cause])], history)
    assert kind_and_why(found) == (
        FailureKind.GPU_MEMORY, "x; held by this pytest process; 5 incidents like it before, since 2026-11-03",
    )  # fmt: skip
    assert found.failures[0].advice == "shut the engine down"


def test_a_victim_whose_log_is_not_there_is_told_by_its_signature() -> None:
    found = triage([record(attempt(signature="free-memory", blame="gpu-memory"))], None, SIGNATURES)
    assert kind_and_why(found) == (FailureKind.GPU_MEMORY, "too little free when the engine started")


def test_what_failed_by_itself_and_by_the_environment_is_judged_by_itself() -> None:
    tried = (attempt(signature="free-memory", blame="gpu-memory"), attempt(fingerprint="bb", number=1))
    assert triage([record(*tried)], KnownFailures(60)).failures[0].kind is FailureKind.NEW


@pytest.mark.parametrize(
    ("fields", "kind", "why"),
    [
        ({"exit_status": -1}, FailureKind.AGENT, "the agent was lost before the job ended: no test is to blame"),
        ({"exit_status": 2}, FailureKind.UNCLEAR, "no test failed in it, and its log names no cause"),
        ({"state": JobState.TIMED_OUT}, FailureKind.UNCLEAR, "it ran out of time"),
    ],
    ids=["a lost agent", "a failing command", "a time-out"],
)
def test_a_job_that_failed_without_a_failing_test_is_told(fields: dict, kind: FailureKind, why: str) -> None:
    found = triage([record(attempt(Outcome.PASSED), **fields)], None)
    assert kind_and_why(found) == (kind, why)
    assert found.failures[0].variant is None


@pytest.mark.parametrize(
    "fields",
    [{"state": JobState.CANCELED, "exit_status": 1}, {"state": JobState.PASSED, "exit_status": 0}],
    ids=["cancelled", "passed"],
)
def test_a_job_that_did_not_fail_is_not_told(fields: dict) -> None:
    assert triage([record(attempt(Outcome.PASSED), **fields)], None).failures == ()


def test_the_log_of_a_job_without_results_tells_its_cause() -> None:
    cause = Cause("no-space", "the disk is full", Blame.INFRA, 3, "No space left on device", "clean it")
    found = triage([record(causes=[cause], state=JobState.UNKNOWN, exit_status=None)], None)
    assert kind_and_why(found) == (FailureKind.INFRA, "the disk is full")
    code = triage([record(causes=[replace(cause, blame=Blame.CODE, title="ImportError")])], None)
    assert kind_and_why(code) == (FailureKind.UNCLEAR, "the job failed outside its tests: ImportError")


def test_a_root_cause_of_the_environment_is_told_beside_tests_that_may_have_failed_by_it() -> None:
    cause = Cause("free-memory", "too little free", Blame.GPU_MEMORY, 3, "Free memory …", "look")
    found = triage([record(attempt(fingerprint="aa"), causes=[cause])], KnownFailures(60))
    assert [(one.kind, one.variant is None) for one in found.failures] == [
        (FailureKind.NEW, False), (FailureKind.GPU_MEMORY, True),
    ]  # fmt: skip
    of_test = triage([record(attempt(fingerprint="aa"), causes=[replace(cause, test="v1/x.py::u")])], KnownFailures(60))
    assert [one.kind for one in of_test.failures] == [FailureKind.NEW]


def test_failures_come_most_urgent_first() -> None:
    other = attempt(fingerprint="zz").attempt._replace(test=TestId("v1.x", "u"))
    history = known(TestVerdict.FLAKY, FLAKE)
    found = triage([record(attempt(fingerprint="aa"), ClassifiedAttempt(other))], history)
    assert [failure.kind for failure in found.failures] == [FailureKind.NEW, FailureKind.FLAKE]
    assert (found.jobs, found.tests, found.build) == (1, 2, BUILD)
