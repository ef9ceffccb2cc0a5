"""Counted rows to the histories that cross to the rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from flake_report.model.evidence import Build, RetryType
from flake_report.model.query import of_test
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId

_SKIPPED, _PASSED = 0, 1  # the states of runs.sql that streaks are made of


@dataclass(frozen=True, slots=True)
class Counts:
    """What the statements counted. Streaks and told runs come by test and pool, and then in order of builds.

    `builds` come in order of places; `tests` and `pools` say what the numbers mean; the other columns are those of the
    statements.
    """

    builds: pa.Table
    tests: pa.Table
    files: pa.Table
    pools: pa.Table
    streaks: pa.Table
    told: pa.Table


def of_tests(counts: Counts, pattern: str) -> Counts:
    """Of all counts those of the tests that a question asks for."""
    glob = of_test(pattern)
    labels = zip(counts.tests["classname"].to_pylist(), counts.tests["name"].to_pylist(), strict=True)
    tests = counts.tests.filter(pa.array([glob.matches(f"{classname}::{name}") for classname, name in labels]))

    def asked(rows: pa.Table) -> pa.Table:
        return rows.filter(pc.is_in(rows["test"], value_set=tests["test"].combine_chunks()))

    return replace(
        counts, tests=tests, files=asked(counts.files), streaks=asked(counts.streaks), told=asked(counts.told)
    )


def fold(counts: Counts) -> Fleet:
    """Every history with what its orders point to."""
    builds = tuple(_build(row) for row in counts.builds.to_pylist())
    pools = {
        pool: Pool(step, queue, tuple(row["place"] for row in rows))
        for (pool, step, queue), rows in groupby(counts.pools.to_pylist(), key=itemgetter("pool", "step", "queue"))
    }
    return Fleet(builds, tuple(pools.values()), tuple(_histories(counts, builds, pools)))


def _build(row: dict[str, Any]) -> Build:
    return Build(
        row["org"],
        row["pipeline"],
        row["build"],
        row["number"],
        row["commit"],
        row["branch"],
        row["source"],
        row["created_at"],
        row["state"],
    )


def _histories(counts: Counts, builds: Sequence[Build], pools: dict[int, Pool]) -> list[History]:
    tests = {row.pop("test"): row for row in counts.tests.to_pylist()}
    files = {(row["test"], row["pool"]): row["file"] for row in counts.files.to_pylist()}
    streaks, told = _by_variant(counts.streaks), _by_variant(counts.told)
    found = []
    for at in streaks.keys() | told.keys():
        variant = _variant(tests[at[0]], pools[at[1]])
        plain = streaks.get(at, [])
        found.append(
            History(
                variant,
                runs=tuple(_run(variant, row, builds) for row in told.get(at, ())),
                passes=tuple(_streak(row) for row in plain if row["state"] == _PASSED),
                skips=tuple(_streak(row) for row in plain if row["state"] == _SKIPPED),
                file=files[at],
            )
        )
    return sorted(found, key=attrgetter("variant"))


def _by_variant(rows: pa.Table) -> dict[tuple[int, int], list[dict[str, Any]]]:
    return {at: list(mine) for at, mine in groupby(rows.to_pylist(), key=itemgetter("test", "pool"))}


def _variant(test: dict[str, str], pool: Pool) -> Variant:
    named = TestId(test["classname"], test["name"], test["apart"])
    return Variant(named, pool.step, pool.queue, test["session_key"])


def _streak(row: dict[str, Any]) -> Streak:
    return Streak(row["first_place"], row["last_place"], row["runs"])


def _run(variant: Variant, row: dict[str, Any], builds: Sequence[Build]) -> Run:
    build = builds[row["place"]]
    return Run(
        variant=variant,
        build=build.key,
        order=row["place"],
        created_at=build.created_at,
        verdict=RunVerdict(row["verdict"]),
        first_failed=row["first_failed"],
        retried=row["retried"],
        recovered=row["recovered"],
        victim=row["victim"],
        fingerprint=row["fingerprint"],
        signature=row["signature"],
        agent=row["agent"],
        retry_type=RetryType(row["retry_type"]) if row["retry_type"] else None,
        job=row["job"],
    )
