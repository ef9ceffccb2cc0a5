"""Jobs that met an incident of GPU memory, and their like: in which order tests ran, and what was sampled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flake_report.model.memory import Place, TestOrder, Trace, TracePoint
from flake_report.model.query import Pools, Query
from flake_report.model.query import label as label_of
from flake_report.model.results import TestId

from .columns import coded, numbers, tuples, values
from .store import Store

_PROCESS = ("step", "queue", "session_key", "job", "session", "worker", "pid")


def orders(store: Store, query: Query, pools: Pools | None = None) -> tuple[TestOrder, ...]:
    """The tests of each process in each place that met an incident, in the order in which they started.

    Jobs without an incident are told where incidents are enough to name somebody, and then the newest of them alone.
    """
    rows = store.answer("orders", ("attempts",), query, pools)
    tests = _labels(rows)  # a row a test of many jobs: no object for each
    victims, passed = values(rows["victim"]), values(rows["passed"])
    process = [coded(rows[name]) for name in _PROCESS]
    begins = _changes([codes for codes, _ in process])
    places = zip(*(_named(codes[begins], names) for codes, names in process[:3]), strict=True)
    jobs = _named(process[3][0][begins], process[3][1])
    pool_jobs = numbers(rows["pool_jobs"])[begins].tolist()
    return tuple(
        TestOrder(
            place=Place(*place),
            job=job,
            tests=tuple(tests[begin:end]),
            victims=frozenset(compress(tests[begin:end], victims[begin:end])),
            passed=frozenset(compress(tests[begin:end], passed[begin:end])),
            pool_jobs=of_all,
        )
        for (begin, end), place, job, of_all in zip(
            pairwise([*begins.tolist(), len(tests)]), places, jobs, pool_jobs, strict=True
        )
    )


def traces(store: Store, query: Query, pools: Pools | None = None) -> tuple[Trace, ...]:
    """The samples of each device in each job that met an incident; tests as `classname::name`."""
    rows = store.answer("traces", ("attempts", "memory"), query, pools)
    by_device = groupby(tuples(rows, ("job", "device", "test", "before", "used")), key=lambda row: row[:2])
    return tuple(
        Trace(job, device, tuple(TracePoint(label_of(test), before, used) for _, _, test, before, used in mine))
        for (job, device), mine in by_device
    )


def _labels(rows: pa.Table) -> list[str]:
    """The label of the test in each row; those of one test are one object."""
    (classname, classnames), (name, names) = coded(rows["classname"]), coded(rows["name"])
    pairs, which = np.unique(classname * np.int64(len(names)) + name, return_inverse=True)
    labels = [TestId(classnames[pair // len(names)], names[pair % len(names)]).label for pair in pairs.tolist()]
    return _named(which, labels)


def _named(codes: NDArray[Any], names: Sequence[str]) -> list[str]:
    return [names[code] for code in codes.tolist()]


def _changes(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """The rows, the first one among them, that differ from the row before in one of these columns."""
    return np.flatnonzero(np.logical_or.reduce([np.diff(column, prepend=-1) != 0 for column in columns]))
