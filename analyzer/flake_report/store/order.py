"""Jobs that met an incident of GPU memory, and their like: in which order tests ran, and what was sampled."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any

from flake_report.model.memory import Place, TestOrder, Trace, TracePoint
from flake_report.model.query import Pools, Query, label
from flake_report.model.results import TestId

from .store import Store

_PROCESS = itemgetter("step", "queue", "session_key", "place", "job", "session", "worker", "pid")


def orders(store: Store, query: Query, pools: Pools | None = None) -> tuple[TestOrder, ...]:
    """The tests of each process in each place that met an incident, in the order in which they started."""
    rows = store.answer("orders", ("attempts",), query, pools).to_pylist()
    return tuple(_order(list(mine)) for _, mine in groupby(rows, key=_PROCESS))


def traces(store: Store, query: Query, pools: Pools | None = None) -> tuple[Trace, ...]:
    """The samples of each device in each job that met an incident; tests as `classname::name`."""
    rows = store.answer("traces", ("attempts", "memory"), query, pools).to_pylist()
    return tuple(
        Trace(job, device, tuple(TracePoint(label(row["test"]), row["before"], row["used"]) for row in mine))
        for (job, device), mine in groupby(rows, key=itemgetter("job", "device"))
    )


def _order(rows: list[dict[str, Any]]) -> TestOrder:
    first = rows[0]
    tests = [TestId(row["classname"], row["name"]).label for row in rows]
    return TestOrder(
        place=Place(first["step"], first["queue"], first["session_key"]),
        job=first["job"],
        tests=tuple(tests),
        victims=frozenset(test for test, row in zip(tests, rows, strict=True) if row["victim"]),
        passed=frozenset(test for test, row in zip(tests, rows, strict=True) if row["passed"]),
        pool_jobs=first["pool_jobs"],
    )
