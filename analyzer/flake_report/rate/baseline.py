"""This export and the one before it as one table of weeks: what a store would hold that had kept both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from flake_report.errors import FlakeReportError
from flake_report.model.comparison import WeekTable
from flake_report.model.known import KnownFailures, KnownTest
from flake_report.model.rate import Variant
from flake_report.model.report import FlakeReport, WeekTotal
from flake_report.model.verdict import TestVerdict

from .weeks import BEFORE

KEPT = timedelta(weeks=BEFORE)
"""For how long failures are known that happen no more."""


def carried(report: FlakeReport, before: KnownFailures) -> Iterator[KnownTest]:
    """What an earlier export knew of failures and this history does not: a store of one week must not forget the rest.

    A broken test that has run since, and is broken no more, has recovered.
    """
    now = {test.variant: test for test in report.tests}
    newest = report.health.newest
    for known in before.tests:
        told = {way.fingerprint for way in report.ways.get(known.variant, ())}
        ways = tuple(way for way in known.ways if way.fingerprint not in told)
        if not ways or (newest and known.until and newest - known.until > KEPT):
            continue
        test = now.get(known.variant)
        mended = test is not None and test.own.n and known.verdict is TestVerdict.BROKEN is not test.verdict
        yield replace(known, ways=ways, verdict=TestVerdict.RECOVERED if mended else known.verdict)


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


def joined_totals(now: Sequence[WeekTotal], before: Sequence[WeekTotal]) -> tuple[WeekTotal, ...]:
    """The weeks of both exports, oldest first, as many as are compared; of a week that both have, the fuller side."""
    weeks: dict[str, WeekTotal] = {}
    for total in (*now, *before):
        known = weeks.get(total.week)
        if known is None or total.runs > known.runs:
            weeks[total.week] = total
    return tuple(weeks[week] for week in sorted(weeks)[-BEFORE - 1 :])


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
