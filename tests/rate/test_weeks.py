"""Counts by week of histories whose builds can be counted by eye."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from flake_report.model.evidence import Build
from flake_report.model.rate import Fleet, History, Pool, Streak, Variant
from flake_report.model.results import TestId
from flake_report.rate.weeks import Calendar, week_counts, week_table

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)  # of 2026-W45
OLD, NEW = "2026-W45", "2026-W46"
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + timedelta(days=2 * at + at // 3), "passed")
    for at in range(6)
)
"""Builds 0, 1 and 2 are of the old week, 3, 4 and 5 of the new one."""

POOLS = (Pool("every", "q", (0, 1, 2, 3, 4, 5)), Pool("late", "q", (0, 3, 4, 5)))


def quiet(name: str, step: str, passes: Sequence[Streak], skips: Sequence[Streak] = ()) -> History:
    return History(Variant(TestId("m", name), step, "q", ""), (), tuple(passes), tuple(skips))


def test_passes_are_spread_over_the_builds_of_their_own_pool() -> None:
    """Four of them, from build 0 to 5: one build in two of `every`, and each one of `late`."""
    four, torn = [Streak(0, 5, 4)], [Streak(0, 2, 3), Streak(3, 5, 1)]
    histories = (
        quiet("a", "every", four),
        quiet("a", "late", four),
        quiet("b", "every", torn),
        quiet("c", "every", four),
        quiet("c", "late", four),
        quiet("d", "every", [], [Streak(0, 5, 6)]),
    )
    counts = week_counts(Fleet(BUILDS, POOLS, histories), {}, Calendar.of(BUILDS))
    assert counts.runs.tolist() == [[2, 2], [3, 1], [1, 3], [2, 2], [3, 1], [0, 0]]
    assert not counts.failures.any()


def test_a_week_in_which_a_test_was_skipped_is_one_in_which_it_was_seen() -> None:
    early, later = [Streak(0, 2, 3)], [Streak(3, 5, 3)]
    histories = (
        quiet("a", "every", early),
        quiet("b", "every", early, later),
        quiet("c", "every", later),
        quiet("d", "every", [], early),
        quiet("e", "every", []),
    )
    seen = week_table(Fleet(BUILDS, POOLS, histories), {}).seen
    assert seen == ((OLD, OLD), (OLD, NEW), (NEW, NEW), (OLD, OLD), ("", ""))


def test_a_build_whose_clock_is_ahead_is_seen_in_its_own_pool_alone() -> None:
    """Build 1, which `late` did not run in, says that it is of the week after the next."""
    builds = (BUILDS[0], replace(BUILDS[1], created_at=MONDAY + timedelta(weeks=2)), *BUILDS[2:])
    histories = (quiet("a", "every", [Streak(0, 3, 2)]), quiet("a", "late", [Streak(0, 3, 2)]))
    assert week_table(Fleet(builds, POOLS, histories), {}).seen == ((OLD, "2026-W47"), (OLD, NEW))
