"""Jobs that met an incident of GPU memory, and their like: in which order tests ran, and what was sampled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby, pairwise

import numpy as np
import pyarrow as pa

from flake_report.model.memory import Place, TestOrder, Trace, TracePoint
from flake_report.model.query import Pools, Query
from flake_report.model.query import label as label_of
from flake_report.model.results import TestId

from .columns import coded, tuples, values
from .store import Store

_PROCESS = ("step", "queue", "session_key", "job", "session", "worker", "pid")


def orders(store: Store, query: Query, pools: Pools | None = None) -> tuple[TestOrder, ...]:
    """The tests of each process in each place that met an incident, in the order in which they started.

    Jobs without an incident are told where incidents are enough to name somebody, and then the newest of them alone.
    """
    rows = store.answer("orders", ("attempts",), query, pools)
    tests = _labels(rows)  # a row a test of many jobs: no object for each
    victims, passed = values(rows["victim"]), values(rows["passed"])
    begins = _changes([rows[name] for name in _PROCESS])
    step, queue, session, job, *_ = (values(rows[name]) for name in _PROCESS)
    pool_jobs = values(rows["pool_jobs"])
    return tuple(
        TestOrder(
            place=Place(step[begin], queue[begin], session[begin]),
            job=job[begin],
            tests=tuple(tests[begin:end]),
            victims=frozenset(compress(tests[begin:end], victims[begin:end])),
            passed=frozenset(compress(tests[begin:end], passed[begin:end])),
            pool_jobs=pool_jobs[begin],
        )
        for begin, end in pairwise([*begins, len(tests)])
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
    return [labels[at] for at in which.tolist()]


def _changes(columns: Sequence[pa.ChunkedArray]) -> list[int]:
    """The rows, the first one among them, that differ from the row before in one of these columns."""
    changed = [np.diff(coded(column)[0], prepend=-1) != 0 for column in columns]
    found: list[int] = np.flatnonzero(np.logical_or.reduce(changed)).tolist()
    return found
