"""The known flaky and broken tests as JUnit, for whatever shows JUnit: a flaky one has its failure and its pass."""

from __future__ import annotations

from collections.abc import Iterator

from flake_report.model.known import FailureWay
from flake_report.model.rate import FlakeRate
from flake_report.model.report import FlakeReport
from flake_report.model.results import Attempt, Outcome
from flake_report.model.verdict import TestVerdict

from .history import row
from .junit import write_junit
from .links import job_url


def flakes_junit(report: FlakeReport) -> bytes:
    """A suite for each step, queue and session, in it the tests whose verdict is flaky or broken.

    They are no attempts that were made: each failure tells one way to fail, and how often that was seen.
    """
    return write_junit(attempt for test in report.tests for attempt in _attempts(test, report))


def _attempts(test: FlakeRate, report: FlakeReport) -> Iterator[Attempt]:
    if test.verdict not in (TestVerdict.FLAKY, TestVerdict.BROKEN):
        return
    told, variant = row(test), test.variant
    suite = " · ".join(part for part in (variant.step, variant.queue, variant.session) if part)
    message = f"{test.verdict.value}: {test.reason}"
    numbers = f"{told['first_failures']} of {told['own_runs']} runs failed on their first attempt"
    ways = [way for way in report.ways.get(variant, ()) if way.flake or test.verdict is TestVerdict.BROKEN]
    texts = [f"{numbers}\n{_way(way)}" for way in ways] or [numbers]
    for number, text in enumerate(texts):
        yield Attempt(variant.test, Outcome.FAILED, number, message=message, text=text, session=suite)
    if test.verdict is TestVerdict.FLAKY:
        yield Attempt(variant.test, Outcome.PASSED, len(texts), session=suite)


def _way(way: FailureWay) -> str:
    place = job_url(way.last, way.job) or way.last.label
    print_ = f"fingerprint {way.fingerprint}" if way.fingerprint else "without a fingerprint"
    return f"{way.runs} times, {print_}, last in {place}"
