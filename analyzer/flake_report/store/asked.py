"""Of what was counted of all, what a question asks for."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from flake_report.model.query import Pools, of_test

from .columns import tuples, values
from .histories import Counts

_POOL = ("pool", "step", "queue")


def of_tests(tests: pa.Table, pattern: str) -> pa.Table:
    """The tests that a question asks for."""
    glob = of_test(pattern)
    names = tuples(tests, ("classname", "name"))
    return tests.filter(pa.array([glob.matches(f"{classname}::{name}") for classname, name in names], pa.bool_()))


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
    return pc.field("step").isin(pa.array(steps, pa.string())) & pc.field("queue").isin(pa.array(queues, pa.string()))


def of_pools(rows: pa.Table, pools: Pools | None) -> pa.Table:
    """The rows with the step and queue of one of these pools."""
    if pools is None:
        return rows
    return rows.filter(pa.array([pair in pools for pair in tuples(rows, ("step", "queue"))], pa.bool_()))
