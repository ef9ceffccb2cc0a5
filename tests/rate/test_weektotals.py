"""All tests together, week by week: every run, failure and hour is in one week."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flake_report.model.cost import SpentJob
from flake_report.model.evidence import Build
from flake_report.model.failure import Blame
from flake_report.model.incident import Incident
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId
from flake_report.rate.cost import Excuses
from flake_report.rate.rates import flake_rates
from flake_report.rate.weektotals import hours_by_week, week_totals

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)  # of 2026-W47
BUILDS = tuple(
    Build("o", "p", str(at), at, f"c{at}", "main", "webhook", MONDAY + timedelta(days=at), "passed") for at in range(14)
)


def variant(name: str) -> Variant:
    return Variant(TestId("m", name), "step", "queue", "")


def fleet() -> Fleet:
    """A test that flaked in one build of each week and was struck in one, and one that never failed."""
    flaky = variant("flaky")
    runs = tuple(
        Run(flaky, str(at), at, BUILDS[at].created_at, verdict, first_failed=verdict is RunVerdict.FLAKY,
            retried=verdict is RunVerdict.FLAKY, recovered=verdict is RunVerdict.FLAKY,
            victim=verdict is RunVerdict.VICTIM)
        for at, verdict in ((2, RunVerdict.FLAKY), (9, RunVerdict.FLAKY), (12, RunVerdict.VICTIM))
    )  # fmt: skip
    passes = (Streak(0, 1, 2), Streak(3, 6, 4), Streak(7, 8, 2), Streak(10, 11, 2), Streak(13, 13, 1))
    quiet = History(variant("quiet"), (), (Streak(0, 13, 14),))
    return Fleet(BUILDS, (Pool("step", "queue", tuple(range(14))),), (History(flaky, runs, passes), quiet))


def test_each_week_has_its_own_builds_runs_failures_and_incidents() -> None:
    history = fleet()
    struck = Incident(BUILDS[12], "j", "free-memory", (variant("flaky"),), blame=Blame.GPU_MEMORY)
    before, now = week_totals(history, flake_rates(history, 0.005), (struck,), {"2026-W48": 1.5})
    assert (before.week, before.builds, before.runs, before.first_failures) == ("2026-W47", 7, 14, 1)
    assert (before.victims, before.flaky, before.incidents, before.hours) == (0, 1, 0, 0.0)
    assert (now.week, now.builds, now.runs, now.first_failures) == (
        "2026-W48",
        7,
        13,
        1,
    )  # a victim's run is no own run
    assert (now.victims, now.flaky, now.incidents, now.hours) == (1, 1, 1, 1.5)


def test_a_history_without_builds_has_no_weeks() -> None:
    assert week_totals(Fleet((), (), ()), (), (), {}) == ()


def test_hours_fall_into_the_week_of_their_build() -> None:
    history = fleet()
    excuses = Excuses(history.histories, flake_rates(history, 0.005))
    jobs = [SpentJob(f"j{at}", at, "queue", 3600.0, failed=True, died=True) for at in (0, 3, 8)]
    assert hours_by_week(jobs, (), excuses, {}, BUILDS) == {"2026-W47": pytest.approx(2), "2026-W48": pytest.approx(1)}
