"""Counted rows to the histories that cross to the rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise, starmap
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flake_report.cycles import seldom_searched
from flake_report.model.evidence import Build, RetryType
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId

from .columns import numbers, tuples, values

_Row = TypeVar("_Row")

_SKIPPED, _PASSED = 0, 1  # the states of runs.sql that streaks are made of


@dataclass(frozen=True, slots=True)
class Counts:
    """What the statements counted. Streaks and told runs come by test and pool, and then in order of builds.

    `builds` come in order of places; `tests` and `pool_names` say what the numbers mean; the other columns are those of
    the statements.
    """

    builds: pa.Table
    tests: pa.Table
    files: pa.Table
    pool_names: pa.Table
    pools: pa.Table
    streaks: pa.Table
    told: pa.Table


def fold(counts: Counts) -> Fleet:
    """Every history with what its orders point to.

    Column by column and in plain tuples: a fleet has tens of thousands of histories, and a question waits for all.
    """
    with seldom_searched():
        builds = tuple(starmap(Build, tuples(counts.builds, _BUILD)))
        pools = _pools(counts)
        return Fleet(builds, tuple(pools.values()), tuple(_histories(counts, builds, pools)))


_BUILD = ("org", "pipeline", "build", "number", "commit", "branch", "source", "created_at", "state")
_STREAK = ("first_place", "last_place", "runs")
_TOLD = (
    *("place", "verdict", "first_failed", "retried", "recovered", "victim"),
    *("fingerprint", "signature", "agent", "retry_type", "job"),
)


def _pools(counts: Counts) -> dict[int, Pool]:
    """By number, in order of names, as numbers are."""
    named = {number: (step, queue) for number, step, queue in tuples(counts.pool_names, ("pool", "step", "queue"))}
    places = _grouped(numbers(counts.pools["pool"]), values(counts.pools["place"]))
    return {number: Pool(*named[number], orders) for number, orders in places.items()}


def _histories(counts: Counts, builds: Sequence[Build], pools: dict[int, Pool]) -> Iterator[History]:
    """In order of variants."""
    streaks = [Streak._make(row) for row in tuples(counts.streaks, _STREAK)]
    state, variant = numbers(counts.streaks["state"]), _variant(counts.streaks)
    passes, skips = (
        _grouped(variant[state == each], list(compress(streaks, (state == each).tolist())))
        for each in (_PASSED, _SKIPPED)
    )
    told = _grouped(_variant(counts.told), list(tuples(counts.told, _TOLD)))
    for named, at, file in sorted(_named(counts, pools)):
        runs = tuple(_run(named, builds, row) for row in told[at]) if at in told else ()
        yield History(named, runs, passes.get(at, ()), skips.get(at, ()), file)


def _variant(table: pa.Table) -> NDArray[np.int64]:
    """The number of each row's test and that of its pool as one."""
    both: NDArray[np.int64] = numbers(table["test"]).astype(np.int64) << 32 | numbers(table["pool"])
    return both


def _grouped(keys: NDArray[np.int64], rows: Sequence[_Row]) -> dict[int, tuple[_Row, ...]]:
    """The rows by their keys; those of one key come together."""
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    bounds = pairwise([*begins.tolist(), len(rows)])
    return {key: tuple(rows[begin:end]) for key, (begin, end) in zip(keys[begins].tolist(), bounds, strict=True)}


def _named(counts: Counts, pools: dict[int, Pool]) -> Iterator[tuple[Variant, int, str]]:
    """Each variant, with its number and its file."""
    ids = map(TestId._make, tuples(counts.tests, ("classname", "name", "apart")))
    tests = dict(
        zip(values(counts.tests["test"]), zip(ids, values(counts.tests["session_key"]), strict=True), strict=True)
    )
    variants = _variant(counts.files).tolist()
    for (test, pool, file), at in zip(tuples(counts.files, ("test", "pool", "file")), variants, strict=True):
        named, session = tests[test]
        where = pools[pool]
        yield Variant(named, where.step, where.queue, session), at, file


def _run(variant: Variant, builds: Sequence[Build], row: Sequence[Any]) -> Run:
    place, verdict, first_failed, retried, recovered, victim, fingerprint, signature, agent, retry_type, job = row
    build = builds[place]
    return Run(
        variant=variant,
        build=build.key,
        order=place,
        created_at=build.created_at,
        verdict=RunVerdict(verdict),
        first_failed=first_failed,
        retried=retried,
        recovered=recovered,
        victim=victim,
        fingerprint=fingerprint,
        signature=signature,
        agent=agent,
        retry_type=RetryType(retry_type) if retry_type else None,
        job=job,
    )
