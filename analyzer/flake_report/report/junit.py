"""Corrected JUnit: each test once, its earlier attempts inside it, in the form that Surefire and Jenkins know.

Form: <https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report.xsd>. Other readers see each
test's final outcome; those who know `flakyFailure` and `rerunFailure` see all. Read back here it gives the same tests
and attempts. What JUnit has no place for (worker, process, memory) is left out; so is a pass that is not the last
attempt, and of another attempt's phase only the final one's is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from junitparser import Attr, Error, Failure, Skipped
from junitparser.xunit2 import (
    FlakyError,
    FlakyFailure,
    InterimResult,
    JUnitXml,
    RerunError,
    RerunFailure,
    TestCase,
    TestSuite,
)

from flake_report.model.results import Attempt, Outcome, TestId

ROOT = "flake-report"
"""The root's name, by which a reader knows that a suite's hostname tells equal tests apart."""

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAILED = frozenset({Outcome.FAILED, Outcome.XPASSED})


class _Case(TestCase):
    file = Attr()
    timestamp = Attr()


def write_junit(attempts: Iterable[Attempt]) -> bytes:
    """A document of all tests, in order of their first attempts; a suite for each session and each `apart`."""
    tests: dict[tuple[str, TestId], list[Attempt]] = {}
    for attempt in attempts:
        tests.setdefault((attempt.session, attempt.test), []).append(attempt)
    document = JUnitXml(ROOT)
    for (session, apart), group in groupby(tests.items(), key=lambda item: (item[0][0], item[0][1].apart)):
        suite = TestSuite(_text(session))  # type: ignore[no-untyped-call]  # junitparser leaves it untyped
        suite.hostname = _text(apart)
        for (_session, test), tried in group:
            suite.add_testcase(_case(test, sorted(tried, key=lambda one: one.number)))
        document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]  # the same
    written: bytes = document.tostring()  # type: ignore[no-untyped-call]  # the same
    return written


def _case(test: TestId, attempts: list[Attempt]) -> TestCase:
    bad = [attempt for attempt in attempts if attempt.outcome.bad]
    last = attempts[-1]
    case = _Case(_text(test.name), classname=_text(test.classname))
    final, earlier = (bad[0], bad[1:]) if last.outcome.bad else (last, bad)
    for attempt in earlier:
        case.add_interim_result(_interim(attempt, rerun=last.outcome.bad))
    _final(case, final)
    if final.file:
        case.file = _text(final.file)
    _timed(case, final)
    if not all(attempt.known for attempt in attempts):
        case.add_property(f"{ROOT}.attempts", "unknown")
    if final.phase is not None:
        case.add_property(f"{ROOT}.phase", final.phase.value)
    return case


def _final(case: TestCase, attempt: Attempt) -> None:
    message, text = _text(attempt.message), _text(attempt.text)
    if attempt.outcome in (Outcome.SKIPPED, Outcome.XFAILED):
        kind = "pytest.xfail" if attempt.outcome is Outcome.XFAILED else None
        case.result = [Skipped(message, kind)]
    elif attempt.outcome is Outcome.XPASSED:
        case.add_property(f"{ROOT}.outcome", attempt.outcome.value)
    elif attempt.outcome.bad:
        failure = attempt.outcome in _FAILED
        result = Failure(message) if failure else Error(message, _kind(attempt))
        result.text = text
        case.result = [result]


def _interim(attempt: Attempt, *, rerun: bool) -> InterimResult:
    if attempt.outcome in _FAILED:
        kind: type[InterimResult] = RerunFailure if rerun else FlakyFailure
    else:
        kind = RerunError if rerun else FlakyError
    result = kind(_text(attempt.message), _kind(attempt))
    if attempt.text:
        result.stack_trace = _text(attempt.text)
    _timed(result, attempt)
    return result


def _kind(attempt: Attempt) -> str | None:
    """A crash is an error of this type; JUnit has no other word for it."""
    return attempt.outcome.value if attempt.outcome is Outcome.CRASHED else None


def _timed(element: TestCase | InterimResult, attempt: Attempt) -> None:
    attributes = element._elem.attrib  # noqa: SLF001 - junitparser has no attribute for an attempt's own time
    if attempt.seconds is not None:
        attributes["time"] = repr(attempt.seconds)
    if attempt.started_at is not None:
        attributes["timestamp"] = attempt.started_at.isoformat()


def _text(text: str) -> str:
    """What XML cannot hold is spelled as pytest does: `#x1B`."""
    return _NOT_XML.sub(lambda found: f"#x{ord(found[0]):02X}", text)
