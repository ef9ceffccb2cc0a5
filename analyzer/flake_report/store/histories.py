"""Counted rows to the histories that cross to the rates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

import pyarrow as pa

from flake_report.model.evidence import RetryType
from flake_report.model.rate import History, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId

_SKIPPED, _PASSED = 0, 1  # the states of runs.sql that streaks are made of


@dataclass(frozen=True, slots=True)
class Counts:
    """What the statements counted. Streaks and told runs come by test and pool, and then in order of builds.

    `tests` and `pools` say what the numbers mean; the other columns are those of the statements.
    """

    tests: pa.Table
    pools: pa.Table
    streaks: pa.Table
    told: pa.Table


def fold(counts: Counts) -> list[History]:
    """A history a variant, in order of variants."""
    tests = {row.pop("test"): row for row in counts.tests.to_pylist()}
    pools = {row.pop("pool"): row for row in counts.pools.to_pylist()}
    streaks, told = _by_variant(counts.streaks), _by_variant(counts.told)
    found = []
    for at in streaks.keys() | told.keys():
        variant = _variant(tests[at[0]], pools[at[1]])
        plain = streaks.get(at, [])
        found.append(
            History(
                variant,
                runs=tuple(_run(variant, row) for row in told.get(at, ())),
                passes=tuple(_streak(row) for row in plain if row["state"] == _PASSED),
                skips=tuple(_streak(row) for row in plain if row["state"] == _SKIPPED),
            )
        )
    return sorted(found, key=attrgetter("variant"))


def _by_variant(rows: pa.Table) -> dict[tuple[int, int], list[dict[str, Any]]]:
    return {at: list(mine) for at, mine in groupby(rows.to_pylist(), key=itemgetter("test", "pool"))}


def _variant(test: dict[str, str], pool: dict[str, str]) -> Variant:
    named = TestId(test["classname"], test["name"], test["apart"])
    return Variant(named, pool["step"], pool["queue"], test["session_key"])


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
