"""The known flakes as JUnit, read by junitparser and by the reader of this project."""

from __future__ import annotations

from dataclasses import replace

from junitparser import JUnitXml

from flake_report.model.known import FailureWay
from flake_report.model.report import FlakeReport
from flake_report.model.results import Attempt, Outcome
from flake_report.model.verdict import TestVerdict
from flake_report.parse.reports import read_report
from flake_report.report.known_junit import flakes_junit


def read(report: FlakeReport) -> list[Attempt]:
    attempts: list[Attempt] = []
    summary = read_report("flakes.junit.xml", iter([flakes_junit(report)]), attempts.append)
    assert summary.complete
    return attempts


def with_ways(report: FlakeReport, verdict: TestVerdict = TestVerdict.FLAKY) -> FlakeReport:
    flaky = report.tests[0]._replace(verdict=verdict)
    build = flaky.breakages[0].last
    way = FailureWay("ecc369733131f5e5", 3, flake=True, first=build, last=build, job="job-19")
    return replace(report, tests=(flaky, *report.tests[1:]), ways={flaky.variant: (way,)})


def test_a_flaky_test_failed_and_passed_and_no_other_test_is_in_it(report: FlakeReport) -> None:
    attempts = read(with_ways(report))
    assert [(attempt.test.name, attempt.outcome) for attempt in attempts] == [
        ("test_flaky[a]", Outcome.FAILED), ("test_flaky[a]", Outcome.PASSED),
    ]  # fmt: skip
    assert attempts[0].message == "flaky: build 7 both failed and passed"
    assert "3 times, fingerprint ecc369733131f5e5, last in https://buildkite.com/acme/ci/builds/19#job-19" in (
        attempts[0].text
    )


def test_a_broken_test_fails(report: FlakeReport) -> None:
    assert [attempt.outcome for attempt in read(with_ways(report, TestVerdict.BROKEN))] == [Outcome.FAILED]


def test_others_count_no_failure_of_a_flaky_test(report: FlakeReport) -> None:
    document = JUnitXml.fromstring(flakes_junit(with_ways(report)))
    assert (document.tests, document.failures) == (1, 0)
    assert [suite.name for suite in document] == ["kv-connector · gpu_1_queue"]


def test_a_flaky_test_whose_failures_have_no_fingerprint_is_told_all_the_same(report: FlakeReport) -> None:
    assert len(read(report)) == 2


def test_a_history_without_flakes_is_an_empty_document(report: FlakeReport) -> None:
    assert JUnitXml.fromstring(flakes_junit(replace(report, tests=report.tests[1:]))).tests == 0


def test_hostile_names_and_reasons_are_text(report: FlakeReport) -> None:
    evil = ']]></testcase><testcase name="x"/><!-- & \u202e\x1b[31m \ud7ff'
    flaky = report.tests[0]
    variant = flaky.variant._replace(test=flaky.variant.test._replace(name=evil), step=evil, queue=evil, session=evil)
    attempts = read(replace(report, tests=(flaky._replace(variant=variant, reason=evil),)))
    assert {attempt.test.name for attempt in attempts} == {evil.replace("\x1b", "#x1B")}
    assert len(attempts) == 2
