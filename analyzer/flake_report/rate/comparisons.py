"""What differs in the newest week: tests that fail more often or less, new tests, vanished tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flake_report.model.comparison import Change, Comparisons, WeekTable
from flake_report.model.rate import Fleet, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment

from .multiplicity import found, worth_testing
from .overdispersion import Counts, spread
from .presence import presence
from .rates import interval
from .weeks import WeekCounts, counts_of, week_table
from .weektest import week_test

LEAST_FAILURES, LEAST_POINTS, LEAST_FACTOR = 3, 0.01, 2
"""The least that a change must come to before it is shown: what is smaller is no news, however sure."""

FEW_RUNS = 20
"""Runs in the newest week, of the median variant, below which variants are pooled: nightly builds make seven a week,
and then hardly any single variant can be told to have changed, whatever it did."""


def comparisons(fleet: Fleet, segments: Mapping[Variant, Sequence[Segment]]) -> Comparisons:
    """The newest week of a history against those before it; `segments` tell which builds are breakages."""
    weeks = {build.week for build in fleet.builds}
    if len(weeks) < 2:  # as `compared` says of such a table, which takes longer to make than all else
        return Comparisons(week=next(iter(weeks), ""))
    return compared(week_table(fleet, segments))


def compared(table: WeekTable) -> Comparisons:
    """The newest week of a table against up to twelve weeks before it.

    False findings: where nothing has changed, at most 5 weeks in 100 hold any `worse` variant, also where weeks differ
    by themselves; the same for `better`. See `weektest` for what that rests on.
    """
    if len(table.weeks) < 2:
        return Comparisons(week=table.weeks[0] if table.weeks else "")
    came = presence(table)
    about = Comparisons(
        new=came.new,
        vanished=came.vanished,
        week=table.weeks[0],
        before=len(table.weeks) - 1,
    )
    alone = _Compared.of(table.variants, counts_of(table))
    if alone.variants and (np.median(alone.runs[:, 0]) < FEW_RUNS or not alone.testable):
        return alone.over_parameters().told(replace(about, pooled=True))
    return alone.told(about)


@dataclass(frozen=True, slots=True)
class _Compared:
    """Variants that ran this week (column 0) and before, and which of them differ."""

    variants: Sequence[Variant]
    members: Counts
    failures: Counts
    runs: Counts
    p_worse: NDArray[np.float64]
    p_better: NDArray[np.float64]
    worse: NDArray[np.bool_]
    better: NDArray[np.bool_]
    testable: int
    icc: float

    @classmethod
    def of(cls, variants: Sequence[Variant], counts: WeekCounts, members: Counts | None = None) -> _Compared:
        both = np.flatnonzero((counts.runs[:, 0] > 0) & (counts.runs[:, 1:].sum(axis=1) > 0))
        failures, runs = counts.failures[both], counts.runs[both]
        fleet = spread(failures[:, 1:], runs[:, 1:])
        test = week_test(failures[:, 0], runs[:, 0], failures[:, 1:], runs[:, 1:], fleet)
        was = failures[:, 1:].sum(axis=1)
        now, before = failures[:, 0] / runs[:, 0], was / runs[:, 1:].sum(axis=1)
        return cls(
            variants=[variants[at] for at in both.tolist()],
            members=np.ones(len(both), dtype=np.int64) if members is None else members[both],
            failures=failures,
            runs=runs,
            p_worse=test.worse,
            p_better=test.better,
            worse=found(test.worse, test.worse_smallest) & (failures[:, 0] >= LEAST_FAILURES) & _matters(before, now),
            better=found(test.better, test.better_smallest) & (was >= LEAST_FAILURES) & _matters(now, before),
            testable=int((worth_testing(test.worse_smallest) | worth_testing(test.better_smallest)).sum()),
            icc=fleet.icc if was.any() else 0.0,
        )

    def over_parameters(self) -> _Compared:
        """The same over tests whose parameters are counted together."""
        at: dict[Variant, int] = {}
        into = np.array([at.setdefault(_without_parameters(variant), len(at)) for variant in self.variants], np.int64)
        shape = (len(at), self.runs.shape[1])
        failures, runs = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        np.add.at(failures, into, self.failures)
        np.add.at(runs, into, self.runs)
        return _Compared.of(list(at), WeekCounts(failures, runs), np.bincount(into, minlength=len(at)))

    def told(self, about: Comparisons) -> Comparisons:
        return replace(
            about,
            worse=self._changes(self.worse, self.p_worse),
            better=self._changes(self.better, self.p_better),
            testable=self.testable,
            untestable=len(self.variants) - self.testable,
            icc=self.icc,
        )

    def _changes(self, chosen: NDArray[np.bool_], p_values: NDArray[np.float64]) -> tuple[Change, ...]:
        """The surest first."""
        changes = [
            Change(
                self.variants[at],
                now=interval(int(self.failures[at, 0]), int(self.runs[at, 0])),
                before=interval(int(self.failures[at, 1:].sum()), int(self.runs[at, 1:].sum())),
                p_value=float(p_values[at]),
                variants=int(self.members[at]),
            )
            for at in np.flatnonzero(chosen).tolist()
        ]
        return tuple(sorted(changes, key=lambda change: (change.p_value, change.variant)))


def _matters(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    # the least difference is rounded as the rates are: 2 % is one point above 1 %
    enough: NDArray[np.bool_] = (high - low >= LEAST_POINTS - 1e-9) & (high >= LEAST_FACTOR * low)
    return enough


def _without_parameters(variant: Variant) -> Variant:
    test = variant.test
    return variant._replace(test=TestId(test.classname, test.name.partition("[")[0], test.apart))
