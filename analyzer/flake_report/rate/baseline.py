"""This export and the one before it as one table of weeks: what a store would hold that had kept both."""

from __future__ import annotations

from collections.abc import Sequence

from flake_report.errors import FlakeReportError
from flake_report.model.comparison import WeekTable
from flake_report.model.rate import Variant

from .weeks import BEFORE


def joined(now: WeekTable, before: WeekTable) -> WeekTable:
    """Both tables as one, as many weeks as are compared.

    Of a week that both have, the fuller side counts, as a whole: an export ends, and a window begins, in the midst of a
    week. Raises `FlakeReportError` where `before` is of a later week than `now`: that is no baseline.
    """
    if now.weeks and before.weeks and before.weeks[0] > now.weeks[0]:
        raise FlakeReportError(
            f"the baseline's newest week is {before.weeks[0]}, later than {now.weeks[0]}; give an older export"
        )
    variants = tuple(dict.fromkeys((*now.variants, *before.variants)))
    weeks = tuple(sorted({*now.weeks, *before.weeks}, reverse=True)[: BEFORE + 1])
    sides = [_fuller(week, now, before) for week in weeks]
    rows = {side: {variant: at for at, variant in enumerate(table.variants)} for side, table in ((0, now), (1, before))}
    tables = (now, before)

    def row(variant: Variant, counts: Sequence[Sequence[Sequence[int]]]) -> tuple[int, ...]:
        values = []
        for week, side in zip(weeks, sides, strict=True):
            at = rows[side].get(variant)
            values.append(0 if at is None else counts[side][at][tables[side].weeks.index(week)])
        return tuple(values)

    return WeekTable(
        weeks=weeks,
        variants=variants,
        runs=tuple(row(variant, (now.runs, before.runs)) for variant in variants),
        first_failures=tuple(row(variant, (now.first_failures, before.first_failures)) for variant in variants),
        seen=tuple(_seen(variant, tables, rows) for variant in variants),
        pools={
            pool: now.pools.get(pool, frozenset()) | before.pools.get(pool, frozenset())
            for pool in (*now.pools, *before.pools)
        },
    )


def _fuller(week: str, now: WeekTable, before: WeekTable) -> int:
    """0 where `now` counted more runs in this week, 1 where `before` did."""
    return int(_total(before, week) > _total(now, week) or week not in now.weeks)


def _total(table: WeekTable, week: str) -> int:
    if week not in table.weeks:
        return 0
    at = table.weeks.index(week)
    return sum(row[at] for row in table.runs)


def _seen(variant: Variant, tables: Sequence[WeekTable], rows: dict[int, dict[Variant, int]]) -> tuple[str, str]:
    known = [tables[side].seen[at] for side in (0, 1) if (at := rows[side].get(variant)) is not None]
    firsts, lasts = [first for first, _ in known if first], [last for _, last in known if last]
    return (min(firsts), max(lasts)) if firsts else ("", "")
