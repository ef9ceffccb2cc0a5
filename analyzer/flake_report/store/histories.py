"""Counted rows to the histories that cross to the rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np
import pyarrow as pa

from flake_report.cycles import seldom_searched
from flake_report.model.evidence import Build, RetryType
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId

from .columns import numbers, tuples

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
_STREAK = ("test", "pool", "state", "first_place", "last_place", "runs")
_TOLD = (
    *("test", "pool", "place", "verdict", "first_failed", "retried", "recovered", "victim"),
    *("fingerprint", "signature", "agent", "retry_type", "job"),
)


def _pools(counts: Counts) -> dict[int, Pool]:
    """By number, in order of names, as numbers are; the rows of one come together."""
    named = {number: (step, queue) for number, step, queue in tuples(counts.pool_names, ("pool", "step", "queue"))}
    pools = numbers(counts.pools["pool"])
    begins = np.flatnonzero(np.diff(pools, prepend=-1))
    places = numbers(counts.pools["place"]).tolist()
    ends = [*begins.tolist(), len(places)][1:]
    return {
        number: Pool(*named[number], tuple(places[begin:end]))
        for number, begin, end in zip(pools[begins].tolist(), begins.tolist(), ends, strict=True)
    }


def _histories(counts: Counts, builds: Sequence[Build], pools: dict[int, Pool]) -> Iterator[History]:
    """In order of variants."""
    tests = {
        test: (TestId(*named), session)
        for test, *named, session in tuples(counts.tests, ("test", "classname", "name", "apart", "session_key"))
    }
    streaks: dict[int, dict[tuple[int, int], list[Streak]]] = {_PASSED: {}, _SKIPPED: {}}
    for test, pool, state, *streak in tuples(counts.streaks, _STREAK):
        streaks[state].setdefault((test, pool), []).append(Streak(*streak))
    told: dict[tuple[int, int], list[list[Any]]] = {}
    for test, pool, *run in tuples(counts.told, _TOLD):
        told.setdefault((test, pool), []).append(run)
    passes, skips = streaks[_PASSED], streaks[_SKIPPED]
    for *_, step, queue, session, test, pool, file in sorted(_named(counts.files, tests, pools)):
        at = test, pool
        variant = Variant(tests[test][0], step, queue, session)
        runs = tuple(_run(variant, builds, row) for row in told[at]) if at in told else ()
        yield History(variant, runs, tuple(passes.get(at, ())), tuple(skips.get(at, ())), file)


def _named(files: pa.Table, tests: dict[int, tuple[TestId, str]], pools: dict[int, Pool]) -> Iterator[tuple[Any, ...]]:
    """Each variant as what orders it, its numbers, and its file: tuples of text compare faster than variants do."""
    for test, pool, file in tuples(files, ("test", "pool", "file")):
        named, session = tests[test]
        where = pools[pool]
        yield named.classname, named.name, named.apart, where.step, where.queue, session, test, pool, file


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
