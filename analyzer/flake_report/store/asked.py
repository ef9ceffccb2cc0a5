"""Of what was counted of all, what a question asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flake_report.model.query import Pools, of_test

from .columns import arrow, texts, tuples, values
from .histories import Counts

_POOL = ("pool", "step", "queue")


def of_tests(tests: pa.Table, pattern: str) -> pa.Table:
    """The tests that a question asks for."""
    glob = of_test(pattern)
    names = tuples(tests, ("classname", "name"))
    return tests.filter(_flags(glob.matches(f"{classname}::{name}") for classname, name in names))


def where_run(counts: Counts) -> Counts:
    """The counts with those pools alone in which some of their tests ran."""
    return replace(counts, pools=counts.pools.filter(among("pool", counts.files)))


def pools_of(counts: Counts) -> Pools:
    """The steps and queues in which something ran."""
    ran = set(values(counts.pools["pool"]))
    return frozenset((step, queue) for pool, step, queue in tuples(counts.pool_names, _POOL) if pool in ran)


def among(column: str, rows: pa.Table) -> pc.Expression:
    """A row has in this column what one of these has there."""
    return pc.field(column).isin(rows[column].unique())


def in_pools(pools: Pools | None) -> pc.Expression | None:
    """A condition that all rows in these pools meet, and few others: what `of_pools` has to look at."""
    if pools is None:
        return None
    steps, queues = ([*{pair[at] for pair in pools}] for at in (0, 1))
    steps_of, queues_of = (texts(names).cast(pa.string()) for names in (steps, queues))
    return pc.field("step").isin(steps_of) & pc.field("queue").isin(queues_of)


def of_pools(rows: pa.Table, pools: Pools | None) -> pa.Table:
    """The rows with the step and queue of one of these pools."""
    if pools is None:
        return rows
    return rows.filter(_flags(pair in pools for pair in tuples(rows, ("step", "queue"))))


def _flags(some: Iterable[bool]) -> pa.Array:
    return arrow(np.fromiter(some, dtype=np.bool_))
