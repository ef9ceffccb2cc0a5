"""Each dialect of JUnit in one small file, which holds in a comment what should be read from it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from lxml import etree

from flake_report.model.results import Attempt
from flake_report.parse.reports import read_report

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "junit"
NAMES = sorted(path.stem for path in FIXTURES.glob("*.xml"))
_NUMBER = re.compile(r"(flaky|reruns) (\d+)")


def shown(attempts: list[Attempt]) -> list[str]:
    """A line a test and session, as the fixtures write it: `class::name = failed? passed@call`."""
    tests: dict[tuple[str, str], list[str]] = defaultdict(list)
    for attempt in attempts:
        line = tests[attempt.session, str(attempt.test)]
        assert attempt.number == len(line), "attempts of one test are numbered from 0, in order"
        phase = f"@{attempt.phase}" if attempt.phase else ""
        line.append(f"{attempt.outcome}{'' if attempt.known else '?'}{phase}")
    return [f"{test} = {' '.join(line)}" for (_session, test), line in tests.items()]


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_is_read_as_its_fixture_says(name: str) -> None:
    data = (FIXTURES / f"{name}.xml").read_bytes()
    expected = data.decode().partition("-->")[0].splitlines()[1:]
    attempts: list[Attempt] = []
    summary = read_report(name, [data], attempts.append)
    assert sorted(shown(attempts)) == sorted(line for line in expected if " = " in line)
    assert (summary.kind, summary.complete) == ("junit", True)
    for line in expected:
        for word, number in _NUMBER.findall(line) if " = " not in line else ():
            assert getattr(summary, word) == int(number), word
        word, _, rest = line.partition(" ")
        if word == "warning":
            assert rest in [str(warning) for warning in summary.warnings]
        elif word == "sessions":
            assert [attempt.session for attempt in attempts] == rest.split()
        elif word == "seconds":
            assert [attempt.seconds for attempt in attempts] == [float(one) for one in rest.split()]
        elif word == "file":
            assert {attempt.file for attempt in attempts} == {rest}


@pytest.mark.parametrize("name", NAMES)
def test_the_fixtures_are_well_formed_by_another_reader(name: str) -> None:
    etree.fromstring((FIXTURES / f"{name}.xml").read_bytes())


def read(name: str) -> list[Attempt]:
    attempts: list[Attempt] = []
    read_report(name, [(FIXTURES / f"{name}.xml").read_bytes()], attempts.append)
    return attempts


def test_a_failure_keeps_its_message_its_text_and_what_was_printed() -> None:
    failed = read("pytest-xunit1-with-files")[1]
    assert (failed.message, failed.text) == ("m", "t\nprinted")


def test_pytests_wrapping_of_a_set_up_error_is_taken_off_its_message() -> None:
    by_name = {attempt.test.name: attempt for attempt in read("pytest-setup-call-and-teardown")}
    assert by_name["setup"].message == "RuntimeError: no device"
    assert by_name["both"].text == "call broke\nteardown broke"


def test_an_earlier_attempt_of_surefire_has_trace_and_output() -> None:
    first = read("surefire-flaky-and-rerun")[0]
    assert first.message == "broken <1>"
    assert first.text.startswith("java.lang.IllegalStateException: broken <1>")
    assert first.text.endswith("attempt 1")


def test_go_s_message_is_what_the_test_said() -> None:
    assert read("gotestsum-reruns")[0].message == "x_test.go:5: not yet"


def test_playwright_s_attempts_have_their_own_messages() -> None:
    failed = [
        attempt for attempt in read("playwright-projects-and-retries-in-text") if attempt.test.name == "fail fail"
    ]
    assert [attempt.message for attempt in failed] == ["expect(received).toBe(expected)", "page closed"]


def test_times_are_in_utc_and_the_case_s_own_go_before_the_suite_s() -> None:
    first, last = read("nextest-retries-with-their-own-times")
    assert first.started_at is not None
    assert last.started_at is not None
    assert first.started_at.isoformat() == "2026-11-20T09:00:00.100000+00:00"
    assert last.started_at.isoformat() == "2026-11-20T09:00:01+00:00"
