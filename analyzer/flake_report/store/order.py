"""Jobs that met an incident of GPU memory, and their like: in which order tests ran, and what was sampled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from flake_report.model.memory import Place, TestOrder, Trace, TracePoint
from flake_report.model.query import Pools, Query
from flake_report.model.query import label as label_of
from flake_report.model.results import TestId

from .store import Store

_PROCESS = ("step", "queue", "session_key", "place", "job", "session", "worker", "pid")
_TEST = ("classname", "name", "victim", "passed", "pool_jobs")


def orders(store: Store, query: Query, pools: Pools | None = None) -> tuple[TestOrder, ...]:
    """The tests of each process in each place that met an incident, in the order in which they started."""
    rows = store.answer("orders", ("attempts",), query, pools)
    columns = [rows[name].to_pylist() for name in (*_PROCESS, *_TEST)]  # a row a test of many jobs: no object for each
    label = cache(lambda classname, name: TestId(classname, name).label)
    by_process = groupby(zip(*columns, strict=True), key=itemgetter(*range(len(_PROCESS))))
    return tuple(_order(process, [row[len(_PROCESS) :] for row in mine], label) for process, mine in by_process)


def traces(store: Store, query: Query, pools: Pools | None = None) -> tuple[Trace, ...]:
    """The samples of each device in each job that met an incident; tests as `classname::name`."""
    rows = store.answer("traces", ("attempts", "memory"), query, pools).to_pylist()
    return tuple(
        Trace(job, device, tuple(TracePoint(label_of(row["test"]), row["before"], row["used"]) for row in mine))
        for (job, device), mine in groupby(rows, key=itemgetter("job", "device"))
    )


def _order(process: tuple[Any, ...], rows: list[tuple[Any, ...]], label: Callable[[str, str], str]) -> TestOrder:
    step, queue, session_key, _, job, *_ = process
    tests = [label(classname, name) for classname, name, *_ in rows]
    return TestOrder(
        place=Place(step, queue, session_key),
        job=job,
        tests=tuple(tests),
        victims=frozenset(test for test, (_, _, victim, _, _) in zip(tests, rows, strict=True) if victim),
        passed=frozenset(test for test, (_, _, _, passed, _) in zip(tests, rows, strict=True) if passed),
        pool_jobs=rows[0][-1],
    )
