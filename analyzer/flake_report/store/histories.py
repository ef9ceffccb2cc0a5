"""Counted rows to the histories that cross to the rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, starmap
from operator import attrgetter, itemgetter
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flake_report.cycles import seldom_searched
from flake_report.model.evidence import Build, RetryType
from flake_report.model.made import made
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId

from .columns import numbers, tuples, values

_Row = TypeVar("_Row")

SKIPPED, PASSED = 0, 1
"""The states of `runs.sql` that streaks are made of."""


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


def _pools(counts: Counts) -> dict[int, Pool]:
    """By number, in order of names, as numbers are."""
    named = {number: (step, queue) for number, step, queue in tuples(counts.pool_names, ("pool", "step", "queue"))}
    of = numbers(counts.pools["pool"])
    keys = np.unique(of)
    places = _parts(tuple(values(counts.pools["place"])), of, keys)
    return {number: Pool(*named[number], orders) for number, orders in zip(keys.tolist(), places, strict=True)}


def _histories(counts: Counts, builds: Sequence[Build], pools: dict[int, Pool]) -> list[History]:
    """In order of variants."""
    variants, at = _variants(counts, pools), _variant(counts.files)
    streaks = tuple(made(Streak, tuples(counts.streaks, _STREAK)))
    state, streaks_of = numbers(counts.streaks["state"]), _variant(counts.streaks)
    passes, skips = (
        _parts(tuple(compress(streaks, (state == each).tolist())), streaks_of[state == each], at)
        for each in (PASSED, SKIPPED)
    )
    told = _variant(counts.told)
    runs = _parts(_runs(counts.told, _found(told, at, variants), builds), told, at)
    histories = made(History, zip(variants, runs, passes, skips, values(counts.files["file"]), strict=True))
    return sorted(histories, key=itemgetter(0))


def _variant(table: pa.Table) -> NDArray[np.int64]:
    """The number of each row's test and that of its pool as one."""
    both: NDArray[np.int64] = numbers(table["test"]).astype(np.int64) << 32 | numbers(table["pool"])
    return both


def _variants(counts: Counts, pools: dict[int, Pool]) -> list[Variant]:
    """The variant of each row of `files`."""
    tests = made(TestId, tuples(counts.tests, ("classname", "name", "apart")))
    named = list(zip(tests, values(counts.tests["session_key"]), strict=True))
    known = _found(numbers(counts.files["test"]), numbers(counts.tests["test"]), named)
    where = {number: (pool.step, pool.queue) for number, pool in pools.items()}
    places = map(where.__getitem__, values(counts.files["pool"]))
    rows = [(test, step, queue, session) for (test, session), (step, queue) in zip(known, places, strict=True)]
    return list(made(Variant, rows))


def _found(wanted: NDArray[np.int64], keys: NDArray[np.int64], rows: Sequence[_Row]) -> list[_Row]:
    """Of each key that is wanted its row; `keys` are those of all rows, in any order."""
    order = keys.argsort()
    places = order[np.searchsorted(keys, wanted, sorter=order)]
    return [rows[place] for place in places.tolist()]


def _parts(rows: tuple[_Row, ...], of: NDArray[np.int64], keys: NDArray[np.int64]) -> list[tuple[_Row, ...]]:
    """For each key the rows of it; `of` are the keys of all rows, in order."""
    begins, ends = (np.searchsorted(of, keys, side).tolist() for side in ("left", "right"))
    return [rows[begin:end] for begin, end in zip(begins, ends, strict=True)]


def _runs(told: pa.Table, variants: Sequence[Variant], builds: Sequence[Build]) -> tuple[Run, ...]:
    """The run of each row; `variants` are theirs, `builds` what places point to."""
    places = values(told["place"])
    where = [builds[place] for place in places]
    return tuple(
        made(
            Run,
            zip(
                variants,
                map(attrgetter("key"), where),
                places,
                map(attrgetter("created_at"), where),
                map(_VERDICTS.__getitem__, values(told["verdict"])),
                *(values(told[flag]) for flag in ("first_failed", "retried", "recovered", "victim")),
                *(values(told[text]) for text in ("fingerprint", "signature", "agent")),
                map(_RETRIES.__getitem__, values(told["retry_type"])),
                values(told["job"]),
                strict=True,
            ),
        )
    )


_VERDICTS: dict[str, RunVerdict] = {each.value: each for each in RunVerdict}
_RETRIES: dict[str | None, RetryType | None] = {None: None, "": None, **{each.value: each for each in RetryType}}
