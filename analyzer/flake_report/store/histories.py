"""Counted rows to the histories that cross to the rates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa

from flake_report.model.evidence import RetryType
from flake_report.model.rate import History, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId

_SKIPPED, _PASSED = 0, 1  # the states of runs.sql that streaks are made of


def fold(variants: pa.Table, streaks: pa.Table, told: pa.Table) -> Iterator[History]:
    """A history for each variant, in the order of the variants; streaks and runs come in order of builds."""
    runs = _by_variant(told)
    plain = _by_variant(streaks)
    for row in variants.to_pylist():
        variant = Variant(
            TestId(row["classname"], row["name"], row["apart"]), row["step"], row["queue"], row["session"]
        )
        mine = plain.get(row["variant"], [])
        yield History(
            variant,
            runs=tuple(_run(variant, run) for run in runs.get(row["variant"], ())),
            passes=tuple(_streak(each) for each in mine if each["state"] == _PASSED),
            skips=tuple(_streak(each) for each in mine if each["state"] == _SKIPPED),
        )


def _by_variant(rows: pa.Table) -> dict[int, list[dict[str, Any]]]:
    return {variant: list(mine) for variant, mine in groupby(rows.to_pylist(), key=itemgetter("variant"))}


def _streak(row: dict[str, Any]) -> Streak:
    return Streak(row["first_place"], row["last_place"], row["runs"])


def _run(variant: Variant, row: dict[str, Any]) -> Run:
    return Run(
        variant=variant,
        build=row["build"],
        order=row["place"],
        created_at=row["created_at"],
        verdict=RunVerdict(row["verdict"]),
        first_failed=row["first_failed"],
        retried=row["retried"],
        recovered=row["recovered"],
        victim=row["victim"],
        fingerprint=row["fingerprint"],
        signature=row["signature"],
        agent=row["agent"],
        retry_type=RetryType(row["retry_type"]) if row["retry_type"] else None,
    )
