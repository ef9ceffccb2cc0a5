"""The known failures as a file: read back they are the report's, and the file is small whatever the history."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from flake_report.errors import FlakeReportError
from flake_report.model.known import FailureWay
from flake_report.model.report import FlakeReport
from flake_report.parse.flakes import read_flakes
from flake_report.report.flakes import LIMIT, flakes_json


@pytest.fixture
def known(report: FlakeReport) -> FlakeReport:
    flaky = report.tests[0]
    first, last = flaky.breakages[0].first, flaky.breakages[0].last
    ways = (
        FailureWay("ecc369733131f5e5", 3, flake=True, first=first, last=last, job="job-19", signature="timeout"),
        FailureWay("", 1, flake=False, first=first, last=first, job="job-12"),
    )
    return replace(report, ways={flaky.variant: ways})


def test_what_is_read_back_is_what_the_report_says(known: FlakeReport) -> None:
    told = read_flakes(flakes_json(known), "flakes.json")
    flaky, victim = told.tests
    assert (told.builds, told.newest, told.branch, told.left_out) == (80, known.health.newest, "main", 0)
    assert (flaky.variant, flaky.verdict, flaky.reason) == (
        known.tests[0].variant, known.tests[0].verdict, "build 7 both failed and passed",
    )  # fmt: skip
    assert (flaky.own_runs, flaky.first_failures, flaky.rate) == (80, 4, 0.05)
    assert [(way.fingerprint, way.runs, way.flake, way.last) for way in flaky.ways] == [
        ("ecc369733131f5e5", 3, True, "build 19"), ("", 1, False, "build 12"),
    ]  # fmt: skip
    assert flaky.ways[0].url == "https://buildkite.com/acme/ci/builds/19#job-19"
    assert (victim.variant.test.name, victim.victim_runs, victim.ways) == ("=victim()", 2, ())


def test_a_test_that_never_failed_is_not_in_it(known: FlakeReport) -> None:
    assert "test_clean" not in flakes_json(known).decode()


def test_a_history_of_any_size_fits_and_what_was_left_out_is_said(known: FlakeReport) -> None:
    flaky = known.tests[0]
    many = tuple(flaky._replace(variant=flaky.variant._replace(session=f"{at} {'long ' * 100}")) for at in range(3000))
    ways = known.ways[flaky.variant]
    data = flakes_json(replace(known, tests=many, ways={test.variant: ways for test in many}))
    told = read_flakes(data, "flakes.json")
    assert LIMIT * 0.95 < len(data) <= LIMIT
    assert told.left_out == 3000 - len(told.tests) > 0
    assert [test.variant for test in told.tests] == [test.variant for test in many[: len(told.tests)]]
    assert json.loads(data)["note"] == f"{told.left_out:,} tests had no room here"


def test_hostile_names_come_back_as_they_were(known: FlakeReport) -> None:
    name = '</script>"\\\u202e\x1b[31m\n'
    flaky = known.tests[0]
    hostile = flaky._replace(variant=flaky.variant._replace(test=flaky.variant.test._replace(name=name)))
    data = flakes_json(replace(known, tests=(hostile,), ways={hostile.variant: known.ways[flaky.variant]}))
    assert read_flakes(data, "x").tests[0].variant.test.name == name


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"schema": "flake-known/1"}', b'{"schema": "other", "tests": []}']
)
def test_what_is_no_such_file_is_refused(data: bytes) -> None:
    with pytest.raises(FlakeReportError, match=r"^f.json: is no flake-known/1 file; give"):
        read_flakes(data, "f.json")


def test_fields_that_are_not_what_they_should_be_read_as_unknown() -> None:
    rows = '[{"name": 3, "rate": "x", "ways": [{"flake": "yes"}, 7]}]'
    told = read_flakes(f'{{"schema":"flake-known/1","tests":{rows},"incidents":[{{"blame":"?"}}]}}'.encode(), "x")
    assert (told.tests[0].variant.test.name, told.tests[0].rate) == ("", 0.0)
    assert [way.flake for way in told.tests[0].ways] == [False]
    assert told.incidents[0].blame is None


def test_what_was_carried_from_an_earlier_export_is_read_back_as_it_was(known: FlakeReport) -> None:
    first = read_flakes(flakes_json(known), "x").tests
    again = read_flakes(flakes_json(replace(known, tests=(), ways={}, carried=first)), "x").tests
    assert again == first
    assert first[0].until == known.health.newest
