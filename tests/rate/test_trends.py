"""Histories by week: the fixture builds one an hour from Monday 2026-11-02, 168 a week."""

from __future__ import annotations

from flake_report.model.rate import WeekCount
from flake_report.rate.rates import flake_rates
from flake_report.rate.trends import trend


def test_runs_failures_and_victims_are_counted_in_their_week(fleet) -> None:
    one = fleet(*["P"] * 160, "F", "F|P", *["P"] * 6, "V", "S", *["P"] * 10)
    weeks = [build.week for build in one.builds]
    assert trend(one.histories[0], weeks) == (
        WeekCount("2026-W45", runs=168, first_failures=2, victims=0),
        WeekCount("2026-W46", runs=10, first_failures=0, victims=1),
    )


def test_a_breakage_stays_in_the_trend_that_it_makes(fleet) -> None:
    (rate,) = flake_rates(fleet(*["P"] * 168, *["F"] * 20), budget=0.005)
    assert [week.first_failures for week in rate.trend] == [0, 20]
    assert rate.own.hits == 0


def test_where_nothing_ever_failed_there_is_no_trend(fleet) -> None:
    (rate,) = flake_rates(fleet(*["P"] * 200), budget=0.005)
    assert rate.trend == ()
