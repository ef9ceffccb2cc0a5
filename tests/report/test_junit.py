"""Corrected JUnit: each test once, and the same attempts when it is read back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser.xunit2 import JUnitXml
from lxml import etree

from flake_report.model.results import Attempt, Outcome, Phase, TestId
from flake_report.parse.reports import read_report
from flake_report.report.junit import write_junit

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "junit"
Record = tuple[object, ...]


def read(data: bytes) -> list[Attempt]:
    attempts: list[Attempt] = []
    summary = read_report("x.xml", [data], attempts.append)
    assert (summary.kind, summary.complete, summary.warnings) == ("junit", True, ())
    return attempts


def records(attempts: list[Attempt]) -> list[Record]:
    """What of an attempt has a place in JUnit, in an order that does not depend on how tests were interleaved."""
    told = [
        (one.session, one.test, one.number, one.outcome, one.known, one.seconds, one.started_at, one.message, one.text)
        for one in attempts
    ]
    return sorted(told, key=repr)


CASE = TestId("v1.test_s.TestA", "t[a::b]")
AT = datetime(2026, 11, 20, 10, 0, 0, 500000, UTC)


def attempt(outcome: Outcome, number: int = 0, test: TestId = CASE, **more: object) -> Attempt:
    message = f"attempt {number} <&>" if outcome.bad else ""
    text = f"trace {number}\n  ]]> &amp;" if outcome.bad else ""
    made = {"seconds": 0.25 + number, "started_at": AT, "message": message, "text": text, **more}
    return Attempt(test, outcome, number, **made)  # type: ignore[arg-type]  # values by field name


SEQUENCES = {
    "a pass": [Outcome.PASSED],
    "fail, fail, pass": [Outcome.FAILED, Outcome.FAILED, Outcome.PASSED],
    "error, fail, pass": [Outcome.ERROR, Outcome.FAILED, Outcome.PASSED],
    "fail, fail, fail": [Outcome.FAILED, Outcome.FAILED, Outcome.FAILED],
    "error, error": [Outcome.ERROR, Outcome.ERROR],
    "a crash, then a pass": [Outcome.CRASHED, Outcome.PASSED],
    "a crash": [Outcome.CRASHED],
    "a skip": [Outcome.SKIPPED],
    "an expected failure": [Outcome.XFAILED],
    "an unexpected pass": [Outcome.XPASSED],
    "a failure, then an unexpected pass": [Outcome.FAILED, Outcome.XPASSED],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_attempts_of_a_test_are_the_same_when_read_back(name: str) -> None:
    attempts = [attempt(outcome, number) for number, outcome in enumerate(SEQUENCES[name])]
    assert records(read(write_junit(attempts))) == records(attempts)


def test_each_test_is_one_element_with_its_final_outcome_for_readers_who_know_no_attempts() -> None:
    other = TestId("v1.test_s", "other")
    attempts = [
        attempt(Outcome.FAILED),
        attempt(Outcome.FAILED, test=other),
        attempt(Outcome.PASSED, 1),
        attempt(Outcome.FAILED, 1, test=other),
    ]
    document = JUnitXml.fromstring(write_junit(attempts).decode())
    [suite] = document
    first, second = suite
    assert (suite.tests, suite.failures) == (2, 1)
    assert (first.is_passed, first.is_flaky, [one.message for one in first.flaky_failures()]) == (
        True,
        True,
        ["attempt 0 <&>"],
    )
    assert (second.is_failure, [one.message for one in second.rerun_failures()]) == (True, ["attempt 1 <&>"])


def test_sessions_and_what_tells_equal_tests_apart_are_kept() -> None:
    attempts = [
        attempt(Outcome.FAILED, test=TestId("app", "login", "chrome")),
        attempt(Outcome.PASSED, test=TestId("app", "login", "firefox")),
        attempt(Outcome.PASSED, test=TestId("app", "login", "firefox"), session="2"),
        attempt(Outcome.PASSED, test=TestId("e2e", "", "#2")),
    ]
    assert records(read(write_junit(attempts))) == records(attempts)


def test_that_attempts_are_unknown_and_the_final_phase_are_kept() -> None:
    attempts = [attempt(Outcome.ERROR, phase=Phase.SETUP, known=False, file="tests/v1/test_s.py")]
    [back] = read(write_junit(attempts))
    assert (back.phase, back.known, back.file) == (Phase.SETUP, False, "tests/v1/test_s.py")


def test_characters_that_xml_cannot_hold_are_spelled() -> None:
    data = write_junit([attempt(Outcome.FAILED, message="\x1b[31mred\x1b[0m \0", text="\ufffe")])
    etree.fromstring(data)
    [back] = read(data)
    assert (back.message, back.text) == ("#x1B[31mred#x1B[0m #x00", "#xFFFE")


def test_no_attempts_make_a_document_without_tests() -> None:
    root = etree.fromstring(write_junit([]))
    assert (root.tag, root.get("tests"), len(root)) == ("testsuites", "0", 0)


@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.xml")))
def test_what_was_read_from_a_dialect_is_the_same_when_written_and_read_back(name: str) -> None:
    attempts: list[Attempt] = []
    read_report(name, [(FIXTURES / f"{name}.xml").read_bytes()], attempts.append)
    kept = [one for one in attempts if name != "go-test-count-hides-the-order" or one.outcome.bad]
    assert records(read(write_junit(kept))) == records(kept)


plain = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=12).map(str.strip)
names = plain.filter(bool)


@settings(deadline=None)
@given(st.lists(st.tuples(names, names, st.sampled_from(list(SEQUENCES.values())), names, names), max_size=6))
def test_any_names_and_texts_are_the_same_when_read_back(
    rows: list[tuple[str, str, list[Outcome], str, str]],
) -> None:
    attempts = {
        (classname, name): [
            attempt(
                outcome, number, TestId(classname, name), **({"message": message, "text": text} if outcome.bad else {})
            )
            for number, outcome in enumerate(outcomes)
        ]
        for classname, name, outcomes, message, text in rows
    }
    flat = [one for tried in attempts.values() for one in tried]
    assert records(read(write_junit(flat))) == records(flat)
