"""Histories as counts by week: what tests of one week against others are made of."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flake_report.model.comparison import WeekTable
from flake_report.model.evidence import Build
from flake_report.model.rate import Fleet, History, Pool, Streak, Variant
from flake_report.model.verdict import Segment

from .breakages import broken_at
from .overdispersion import Counts
from .pieces import OWN

BEFORE = 12
"""Weeks that the newest is compared with, at most: older ones say less of today."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """The newest weeks with builds: `weeks` newest first, and for each build the place of its week, -1 for older."""

    weeks: tuple[str, ...]
    places: Counts

    @classmethod
    def of(cls, builds: Sequence[Build]) -> Calendar:
        """The newest week and up to `BEFORE` weeks before it."""
        weeks = tuple(sorted({build.week for build in builds}, reverse=True)[: BEFORE + 1])
        at = {week: place for place, week in enumerate(weeks)}
        return cls(weeks, np.array([at.get(build.week, -1) for build in builds], dtype=np.int64))


@dataclass(frozen=True, slots=True)
class WeekCounts:
    """Runs with an own attempt and those whose first one failed, outside breakages.

    Shapes: histories by weeks of the calendar.
    """

    failures: Counts
    runs: Counts

    @classmethod
    def of(cls, failures: Sequence[Sequence[int]], runs: Sequence[Sequence[int]], weeks: int) -> WeekCounts:
        """From a row a history, with a number for each of so many weeks."""
        return cls(*(np.array(rows, dtype=np.int64).reshape(len(rows), weeks) for rows in (failures, runs)))


def week_counts(fleet: Fleet, segments: Mapping[Variant, Sequence[Segment]], calendar: Calendar) -> WeekCounts:
    """The counts of every history, in their order; `segments` tell which builds are breakages.

    Of a variant without any run to tell only the sum of its passes is known. They are spread over the builds of its
    pool between its first and its last: exact where it ran in all of them.
    """
    none = [0] * len(calendar.weeks)
    failures, runs = [none] * len(fleet.histories), [none] * len(fleet.histories)
    places: list[int] = calendar.places.tolist()
    pools = {(pool.step, pool.queue): pool for pool in fleet.pools}
    known: dict[tuple[str, str, tuple[Streak, ...]], list[int]] = {}
    for nth, history in enumerate(fleet.histories):
        variant = history.variant
        if history.runs:
            failures[nth], runs[nth] = _told(history, segments.get(variant, ()), places, len(calendar.weeks))
        elif history.passes:
            alike = (variant.step, variant.queue, history.passes)
            if alike not in known:
                spread = [_spread(streak, pools[alike[:2]], calendar) for streak in history.passes]
                known[alike] = np.sum(spread, axis=0).tolist()
            runs[nth] = known[alike]
    return WeekCounts.of(failures, runs, len(calendar.weeks))


def week_table(fleet: Fleet, segments: Mapping[Variant, Sequence[Segment]]) -> WeekTable:
    """All that comparisons of weeks rest on; `segments` tell which builds are breakages."""
    calendar = Calendar.of(fleet.builds)
    counts = week_counts(fleet, segments, calendar)
    weeks = [build.week for build in fleet.builds]
    stretches = _Stretches(weeks, {(pool.step, pool.queue): pool.orders for pool in fleet.pools})
    return WeekTable(
        weeks=calendar.weeks,
        variants=tuple(history.variant for history in fleet.histories),
        runs=tuple(map(tuple, counts.runs.tolist())),
        first_failures=tuple(map(tuple, counts.failures.tolist())),
        seen=tuple(stretches.seen(history) for history in fleet.histories),
        pools={(pool.step, pool.queue): frozenset(weeks[order] for order in pool.orders) for pool in fleet.pools},
    )


class _Stretches:
    """The first and the last week between two builds of a pool."""

    def __init__(self, weeks: Sequence[str], pools: Mapping[tuple[str, str], Sequence[int]]) -> None:
        self._weeks = weeks
        self._pools = pools
        self._in_order = all(one <= other for one, other in pairwise(weeks))
        self._known: dict[tuple[str, str, Streak], tuple[str, str]] = {}
        self._quiet: dict[tuple[str, str, tuple[Streak, ...], tuple[Streak, ...]], tuple[str, str]] = {}

    def seen(self, history: History) -> tuple[str, str]:
        """The first and the last week of a history; empty where nothing is told of it."""
        if history.runs:
            return self._seen(history)
        alike = (history.variant.step, history.variant.queue, history.passes, history.skips)
        if alike not in self._quiet:
            self._quiet[alike] = self._seen(history)
        return self._quiet[alike]

    def _seen(self, history: History) -> tuple[str, str]:
        ends = [(self._weeks[run.order],) * 2 for run in history.runs]
        ends += [self._ends(history.variant, streak) for streak in (*history.passes, *history.skips)]
        return (min(first for first, _ in ends), max(last for _, last in ends)) if ends else ("", "")

    def _ends(self, variant: Variant, streak: Streak) -> tuple[str, str]:
        """A clock that went wrong may put the newest week in the middle of a streak."""
        if self._in_order:
            return self._weeks[streak.first_order], self._weeks[streak.last_order]
        place = (variant.step, variant.queue, streak)
        if place not in self._known:
            orders = self._pools[place[:2]]
            within = orders[bisect_left(orders, streak.first_order) : bisect_right(orders, streak.last_order)]
            weeks = [self._weeks[order] for order in within]
            self._known[place] = min(weeks), max(weeks)
        return self._known[place]


def counts_of(table: WeekTable) -> WeekCounts:
    """The counts of a table, as they are compared."""
    return WeekCounts.of(table.first_failures, table.runs, len(table.weeks))


def _told(
    history: History, segments: Sequence[Segment], places: Sequence[int], weeks: int
) -> tuple[list[int], list[int]]:
    """First-failed runs and runs of a history that has some to tell, by week: all runs of a streak are of one week."""
    failures, runs = [0] * weeks, [0] * weeks
    for streak in history.passes:
        place = places[streak.first_order]
        if place >= 0 and not broken_at(streak.first_order, segments):
            runs[place] += streak.runs
    for run in history.runs:
        place = places[run.order]
        if place >= 0 and run.verdict in OWN and not broken_at(run.order, segments):
            runs[place] += 1
            failures[place] += run.first_failed
    return failures, runs


def _spread(streak: Streak, pool: Pool, calendar: Calendar) -> Counts:
    """The runs of a streak by week, as its pool's builds lie; sums to their number where no week is too old."""
    orders = np.array(pool.orders)
    within = calendar.places[orders[(orders >= streak.first_order) & (orders <= streak.last_order)]]
    builds = np.bincount(within + 1, minlength=len(calendar.weeks) + 1)
    so_far = np.round(builds.cumsum() * (streak.runs / builds.sum())).astype(np.int64)
    a_week: Counts = np.diff(so_far)
    return a_week
