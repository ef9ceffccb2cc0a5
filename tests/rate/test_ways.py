"""Ways to fail: what shares a fingerprint is one, and it is a flake or not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from flake_report.model.evidence import Build
from flake_report.model.rate import FlakeRate, Fleet, History, Interval, Run, RunVerdict, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment, TestVerdict
from flake_report.rate.ways import ways

VARIANT = Variant(TestId("m", "t"), "unit", "q", "")
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + timedelta(days=at), "") for at in range(9)
)
OWN = Interval(9, 3, 0.3, 0.1, 0.6)


def told(
    runs: list[tuple[int, RunVerdict, str]], *segments: Segment, verdict: TestVerdict = TestVerdict.FLAKY
) -> dict[str, tuple[int, bool, str, str]]:
    made = tuple(
        Run(VARIANT, str(at), at, BUILDS[at].created_at, kind, fingerprint=print_, job=f"job-{at}")
        for at, kind, print_ in runs
    )
    fleet = Fleet(BUILDS, (), (History(VARIANT, made, ()),))
    found = ways(fleet, [FlakeRate(VARIANT, OWN, OWN, 0.1, "", verdict=verdict, segments=segments)])
    return {way.fingerprint: (way.runs, way.flake, way.last.key, way.job) for way in found.get(VARIANT, ())}


def test_what_failed_and_passed_at_one_commit_is_a_flake() -> None:
    assert told([(3, RunVerdict.FLAKY, "aa")]) == {"aa": (1, True, "3", "job-3")}


def test_what_failed_alike_in_builds_apart_is_a_flake() -> None:
    assert told([(1, RunVerdict.FAILED, "aa"), (5, RunVerdict.FAILED, "aa")]) == {"aa": (2, True, "5", "job-5")}


def test_what_failed_once_is_none_even_where_the_test_flakes_in_another_way() -> None:
    found = told([(1, RunVerdict.FLAKY, "aa"), (4, RunVerdict.FAILED, "bb")])
    assert found == {"aa": (1, True, "1", "job-1"), "bb": (1, False, "4", "job-4")}


def test_what_failed_in_a_breakage_alone_is_none() -> None:
    broken = Segment(4, 8, 5, 5, 0, 5, 0, breakage=True)
    runs = [(at, RunVerdict.FAILED, "aa") for at in range(4, 9)]
    assert told(runs, broken) == {"aa": (5, False, "8", "job-8")}


def test_builds_in_a_row_that_failed_alike_are_none_where_the_test_is_not_flaky() -> None:
    runs = [(at, RunVerdict.FAILED, "aa") for at in (2, 3, 4)]
    assert told(runs, verdict=TestVerdict.RECOVERED) == {"aa": (3, False, "4", "job-4")}


def test_a_failure_without_a_fingerprint_is_like_no_other() -> None:
    assert told([(1, RunVerdict.FAILED, ""), (5, RunVerdict.FAILED, "")]) == {"": (2, False, "5", "job-5")}


def test_victims_and_lost_runs_are_no_way_of_the_test() -> None:
    assert told([(1, RunVerdict.VICTIM, "aa"), (2, RunVerdict.LOST, "")]) == {}
