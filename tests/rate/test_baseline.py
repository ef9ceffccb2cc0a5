"""Two exports as one table: what a store would say that had kept the builds of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from flake_report.errors import FlakeReportError
from flake_report.model.comparison import WeekTable
from flake_report.model.evidence import Build
from flake_report.model.known import FailureWay, KnownFailures, KnownTest, KnownWay
from flake_report.model.rate import FlakeRate, Fleet, History, Interval, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.report import FlakeReport, Health, WeekTotal, Window
from flake_report.model.results import TestId
from flake_report.model.verdict import TestVerdict
from flake_report.rate.baseline import carried, joined, joined_totals
from flake_report.rate.comparisons import compared, comparisons
from flake_report.rate.weeks import week_table

MONDAY = datetime(2026, 9, 7, tzinfo=UTC)
DAILY = 20
"""Builds a day, so that a week is enough for a test."""


def fleet(weeks: Sequence[int], failures: dict[str, Sequence[int]], only: dict[str, Sequence[int]]) -> Fleet:
    """Builds of these weeks; `failures` by week of each test, told first in it; `only`: tests of certain weeks."""
    builds = tuple(
        Build(
            "acme",
            "ci",
            str(week * 1000 + at),
            None,
            "c",
            "main",
            "",
            MONDAY + timedelta(days=7 * week, minutes=at),
            "",
        )
        for week in weeks
        for at in range(DAILY * 7)
    )
    names = sorted({*failures, *only})
    histories = tuple(_history(name, weeks, builds, failures.get(name, ()), only.get(name, weeks)) for name in names)
    return Fleet(builds, (Pool("unit", "q", tuple(range(len(builds)))),), histories)


def _history(
    name: str, weeks: Sequence[int], builds: Sequence[Build], failures: Sequence[int], ran: Sequence[int]
) -> History:
    variant = Variant(TestId("m", name), "unit", "q", "")
    runs: list[Run] = []
    passes: list[Streak] = []
    for place, week in enumerate(weeks):
        if week not in ran:
            continue
        first, last = place * DAILY * 7, (place + 1) * DAILY * 7 - 1
        bad = failures[week] if week < len(failures) else 0
        runs += [
            Run(variant, builds[at].key, at, builds[at].created_at, RunVerdict.FAILED, first_failed=True)
            for at in range(first, first + 2 * bad, 2)
        ]
        passes += [Streak(at, at, 1) for at in range(first + 1, first + 2 * bad, 2)]
        passes.append(Streak(first + 2 * bad, last, last - first - 2 * bad + 1))
    return History(variant, tuple(runs), tuple(passes))


FAILURES = {"steady": (2, 3, 2, 3), "worse": (1, 0, 1, 30), "better": (15, 14, 16, 0), "clean": ()}
ONLY = {"gone": (0, 1, 2), "fresh": (3,)}


def table(*weeks: int) -> WeekTable:
    mine = {name: ran for name, ran in ONLY.items() if set(ran) & set(weeks)}
    return week_table(fleet(weeks, FAILURES, mine), {})


def test_this_week_with_last_weeks_export_says_what_a_store_of_all_weeks_says() -> None:
    whole = comparisons(fleet((0, 1, 2, 3), FAILURES, ONLY), {})
    chained = compared(joined(table(3), table(0, 1, 2)))
    assert chained == whole
    assert [change.variant.test.name for change in chained.worse] == ["worse"]
    assert [change.variant.test.name for change in chained.better] == ["better"]
    assert [variant.test.name for variant in chained.new] == ["fresh"]
    assert [variant.test.name for variant in chained.vanished] == ["gone"]


def test_exports_chain_week_after_week_without_a_store() -> None:
    chain = table(0)
    for week in (1, 2, 3):
        chain = joined(table(week), chain)
    assert compared(chain) == comparisons(fleet((0, 1, 2, 3), FAILURES, ONLY), {})


def test_exports_that_overlap_count_a_week_once() -> None:
    assert compared(joined(table(1, 2, 3), table(0, 1, 2))) == compared(joined(table(3), table(0, 1, 2)))


def test_of_a_week_that_one_side_has_in_part_the_fuller_side_counts() -> None:
    full = table(2, 3)
    part = replace(full, runs=tuple((runs[0], runs[1] // 3) for runs in full.runs))
    assert joined(part, table(0, 1, 2)).runs == joined(full, table(0, 1, 2)).runs


def test_the_same_export_as_its_own_baseline_changes_nothing() -> None:
    whole = table(0, 1, 2, 3)
    assert joined(whole, whole) == whole


def test_a_later_export_is_no_baseline() -> None:
    with pytest.raises(FlakeReportError, match="later than 2026-W37; give an older export"):
        joined(table(0), table(1))


def test_an_empty_history_takes_the_baseline_as_it_is() -> None:
    assert joined(WeekTable(), table(0)).runs == table(0).runs


NEWEST = datetime(2026, 9, 30, tzinfo=UTC)
FLAKE, ODD = KnownWay("aa", 5, flake=True, last="build 5"), KnownWay("bb", 1, flake=False, last="build 6")


def known(name: str, *ways: KnownWay, until: datetime = NEWEST, verdict: TestVerdict = TestVerdict.FLAKY) -> KnownTest:
    return KnownTest(
        Variant(TestId("m", name), "unit", "q", ""), verdict, "so", 9, 9, 5, 0.5, 0, ways=ways, until=until
    )


def carries(*tests: KnownTest, failing: dict[str, str] | None = None, ran: Sequence[str] = ()) -> list[KnownTest]:
    """What is carried into a history where these tests ran and those failed, each with a fingerprint."""
    made = Build("acme", "ci", "1", 1, "c", "main", "", NEWEST, "")
    here = {name: Variant(TestId("m", name), "unit", "q", "") for name in (*ran, *(failing or {}))}
    own = Interval(9, 0, 0.0, 0.0, 0.2)
    rates = tuple(FlakeRate(variant, own, own, 0.0, "") for variant in here.values())
    ways = {
        here[name]: (FailureWay(print_, 1, flake=False, first=made, last=made, job=""),)
        for name, print_ in (failing or {}).items()
    }
    health = Health(1, 1, 0, 0, 9, 0, NEWEST, NEWEST, ("all",), 0)
    report = FlakeReport(Window(None, None, None), rates, health, 0.005, ways=ways)
    return list(carried(report, KnownFailures(60, tests=tests)))


def test_what_fails_no_more_stays_known() -> None:
    assert carries(known("a", FLAKE), ran=["a"]) == [known("a", FLAKE)]


def test_what_this_history_knows_itself_is_not_carried() -> None:
    assert carries(known("a", FLAKE), failing={"a": "aa"}) == []
    assert carries(known("a", FLAKE, ODD), failing={"a": "aa"}) == [known("a", ODD)]


def test_what_is_long_past_is_forgotten() -> None:
    assert carries(known("a", FLAKE, until=NEWEST - timedelta(weeks=13))) == []
    assert len(carries(known("a", FLAKE, until=NEWEST - timedelta(weeks=11)))) == 1


def test_a_broken_test_that_ran_and_is_broken_no_more_has_recovered() -> None:
    broken = known("a", ODD, verdict=TestVerdict.BROKEN)
    assert [one.verdict for one in carries(broken, ran=["a"])] == [TestVerdict.RECOVERED]
    assert [one.verdict for one in carries(broken)] == [TestVerdict.BROKEN]


def test_of_a_week_that_both_exports_have_the_fuller_side_counts() -> None:
    def total(week: str, runs: int) -> WeekTotal:
        return WeekTotal(week, 1, runs, 0, 0, 0, 0, 0.0)

    now = (total("2026-W47", 3), total("2026-W48", 9))
    before = (total("2026-W46", 7), total("2026-W47", 8))
    assert joined_totals(now, before) == (total("2026-W46", 7), total("2026-W47", 8), total("2026-W48", 9))
    many = tuple(total(f"2026-W{at}", 1) for at in range(20, 40))
    assert [one.week for one in joined_totals(now, many)] == [f"2026-W{at}" for at in (*range(29, 40), 47, 48)]
