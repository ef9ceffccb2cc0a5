"""An earlier export's `report.json`: its weeks, and the counts that they are compared by."""

from __future__ import annotations

import re
from functools import partial
from operator import le

from flake_report.errors import FlakeReportError
from flake_report.model.comparison import WeekTable
from flake_report.model.rate import Variant
from flake_report.model.report import WeekTotal
from flake_report.model.results import TestId

from .fields import Fields, value_of


def read_week_table(data: bytes, name: str) -> WeekTable:
    """The table of an export. Raises `FlakeReportError` where it holds none, or one that contradicts itself."""
    found = value_of(data)
    if not isinstance(found, dict) or not isinstance(found.get("week_counts"), dict):
        raise FlakeReportError(f"{name}: holds no week_counts; give the folder that flake-report export wrote")
    table = Fields(found["week_counts"])
    weeks = tuple(table.texts("weeks"))
    tests = table.objects("tests")
    runs, failures = (tuple(tuple(test.wholes(key)) for test in tests) for key in ("own_runs", "first_failures"))
    if not _in_order(weeks) or not all(map(partial(_fit, len(weeks)), runs, failures)):
        raise FlakeReportError(f"{name}: its week_counts are damaged; export the baseline again")
    return WeekTable(
        weeks=weeks,
        variants=tuple(map(read_variant, tests)),
        runs=runs,
        first_failures=failures,
        seen=tuple((test.text("first_week"), test.text("last_week")) for test in tests),  # null reads as empty
        pools={
            (pool.text("step"), pool.text("queue")): frozenset(pool.texts("weeks")) for pool in table.objects("pools")
        },
    )


def read_week_totals(data: bytes) -> tuple[WeekTotal, ...]:
    """All tests together, week by week, as an export tells them; a week that is not whole is left out."""
    found = value_of(data)
    rows = Fields(found).objects("weeks") if isinstance(found, dict) else []
    return tuple(total for row in rows if (total := _total(row)) is not None)


def _total(row: Fields) -> WeekTotal | None:
    week, hours = _ISO_WEEK.fullmatch(row.text("week")), row.number("hours")
    counts = [count for key in _TOTALS if (count := row.whole(key)) is not None]
    if week is None or hours is None or len(counts) < len(_TOTALS):
        return None
    builds, runs, first_failures, victims, flaky, incidents = counts
    return WeekTotal(week[0], builds, runs, first_failures, victims, flaky, incidents, hours)


_ISO_WEEK = re.compile(r"\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])")
_TOTALS = ("builds", "runs", "first_failures", "victims", "flaky", "incidents")
"""The counts of a week, in the order in which the type has them."""


def read_variant(row: Fields) -> Variant:
    """The variant that a row of any table names."""
    test = TestId(row.text("classname"), row.text("name"), row.text("apart"))
    return Variant(test, row.text("step"), row.text("queue"), row.text("session"))


def _in_order(weeks: tuple[str, ...]) -> bool:
    """Newest first, each once."""
    return sorted(set(weeks), reverse=True) == list(weeks) and all(map(_ISO_WEEK.fullmatch, weeks))


def _fit(weeks: int, runs: tuple[int, ...], failures: tuple[int, ...]) -> bool:
    """Whether there is a count for each week, and no week with more failures than runs."""
    return len(runs) == len(failures) == weeks and all(map(le, failures, runs))
