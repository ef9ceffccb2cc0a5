"""Ways to fail: what shares a fingerprint is one, and it is a flake or not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from flake_report.model.evidence import Build
from flake_report.model.rate import FlakeRate, Fleet, History, Interval, Run, RunVerdict, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment
from flake_report.rate.ways import flaking, ways

VARIANT = Variant(TestId("m", "t"), "unit", "q", "")
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + timedelta(days=at), "") for at in range(9)
)
OWN = Interval(9, 3, 0.3, 0.1, 0.6)


def told(runs: list[tuple[int, RunVerdict, str]], *flakes: str) -> dict[str, tuple[int, bool, str, str]]:
    made = tuple(
        Run(VARIANT, str(at), at, BUILDS[at].created_at, kind, fingerprint=print_, job=f"job-{at}")
        for at, kind, print_ in runs
    )
    fleet = Fleet(BUILDS, (), (History(VARIANT, made, ()),))
    found = ways(fleet, [FlakeRate(VARIANT, OWN, OWN, 0.1, "", flakes=frozenset(flakes))])
    return {way.fingerprint: (way.runs, way.flake, way.last.key, way.job) for way in found.get(VARIANT, ())}


def test_a_way_that_is_known_to_flake_is_a_flake_and_another_of_the_same_test_is_none() -> None:
    found = told([(1, RunVerdict.FLAKY, "aa"), (4, RunVerdict.FAILED, "bb"), (5, RunVerdict.FAILED, "bb")], "aa")
    assert found == {"bb": (2, False, "5", "job-5"), "aa": (1, True, "1", "job-1")}


def test_flakes_are_the_failures_of_such_a_way_outside_breakages() -> None:
    broken = Segment(4, 8, 5, 5, 0, 5, 0, breakage=True)
    runs = [(1, "aa"), (2, "bb"), *((at, "aa") for at in range(4, 9))]
    made = tuple(
        Run(VARIANT, str(at), at, BUILDS[at].created_at, RunVerdict.FAILED, fingerprint=print_) for at, print_ in runs
    )
    rate = FlakeRate(VARIANT, OWN, OWN, 0.1, "", segments=(broken,), flakes=frozenset({"aa"}))
    assert [run.order for run in flaking(rate, History(VARIANT, made, ()))] == [1]


def test_a_failure_without_a_fingerprint_is_like_no_other() -> None:
    assert told([(1, RunVerdict.FAILED, ""), (5, RunVerdict.FAILED, "")]) == {"": (2, False, "5", "job-5")}


def test_victims_and_lost_runs_are_no_way_of_the_test() -> None:
    assert told([(1, RunVerdict.VICTIM, "aa"), (2, RunVerdict.LOST, "")]) == {}
