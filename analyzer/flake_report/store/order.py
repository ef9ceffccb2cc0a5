"""Jobs that met an incident of GPU memory, and their like: in which order tests ran, and what was sampled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby, pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from flake_report.model.memory import Place, TestOrder, Trace, TracePoint
from flake_report.model.query import Pools, Query
from flake_report.model.query import label as label_of
from flake_report.model.results import TestId

from .columns import arrow, coded, numbers, tuples
from .store import Store

_PROCESS = ("job", "session_key", "session", "worker", "pid")


class _Process(NamedTuple):
    """A process of a job in which tests ran; they sort by place, then in order of builds."""

    step: str
    queue: str
    session_key: str
    place: int
    job: str
    session: str
    worker: str
    pid: int
    pool_jobs: int


def orders(store: Store, query: Query, pools: Pools | None = None) -> tuple[TestOrder, ...]:
    """The tests of each process in each place that met an incident, in the order in which they started.

    Jobs without an incident are told where incidents are enough to name somebody, and then the newest of them alone.
    Processes come by place, then in order of builds.
    """
    rows = store.answer("orders", ("attempts",), query, pools)
    processes, process = _processes(rows)
    labels, test = _labels(rows)
    order = np.lexsort((numbers(rows["ordinal"]), numbers(rows["nth"]), process))
    _, once, again = np.unique(process[order] * len(labels) + test[order], return_index=True, return_inverse=True)
    begun = np.sort(once)  # a test stands where it first ran
    victims, passed = (_any(numbers(rows[name])[order], again)[begun] for name in ("victim", "passed"))
    names = [labels[code] for code in test[order][begun].tolist()]
    bounds = np.searchsorted(process[order][begun], np.arange(len(processes) + 1)).tolist()
    return tuple(
        TestOrder(
            place=Place(ran.step, ran.queue, ran.session_key),
            job=ran.job,
            tests=tuple(names[begin:end]),
            victims=frozenset(compress(names[begin:end], victims[begin:end].tolist())),
            passed=frozenset(compress(names[begin:end], passed[begin:end].tolist())),
            pool_jobs=ran.pool_jobs,
        )
        for ran, (begin, end) in zip(processes, pairwise(bounds), strict=True)
    )


def traces(store: Store, query: Query, pools: Pools | None = None) -> tuple[Trace, ...]:
    """The samples of each device in each job that met an incident; tests as `classname::name`."""
    rows = store.answer("traces", ("attempts", "memory"), query, pools)
    by_device = groupby(tuples(rows, ("job", "device", "test", "before", "used")), key=lambda row: row[:2])
    return tuple(
        Trace(job, device, tuple(TracePoint(label_of(test), before, used) for _, _, test, before, used in mine))
        for (job, device), mine in by_device
    )


def _processes(rows: pa.Table) -> tuple[list[_Process], NDArray[np.int64]]:
    """All processes in order, and for each row the place of its process among them."""
    _, first, which = np.unique(_joint(rows, _PROCESS), return_index=True, return_inverse=True)
    found = list(map(_Process._make, tuples(rows.take(arrow(first)), _Process._fields)))
    order = sorted(range(len(found)), key=found.__getitem__)
    return [found[at] for at in order], np.argsort(order)[which]


def _labels(rows: pa.Table) -> tuple[list[str], NDArray[np.int64]]:
    """The labels of all tests, and for each row the place of its test among them: no object for each row."""
    classname, classnames = coded(rows["classname"])
    name, names = coded(rows["name"])
    pairs, test = np.unique(classname * np.int64(len(names)) + name, return_inverse=True)
    return [TestId(classnames[at // len(names)], names[at % len(names)]).label for at in pairs.tolist()], test


def _joint(rows: pa.Table, columns: Sequence[str]) -> NDArray[np.int64]:
    """A number for each row; rows that are alike in all these columns, and no others, have the same."""
    joint, size = np.zeros(len(rows), dtype=np.int64), 1
    for codes, found in (coded(rows[name]) for name in columns):
        if size * len(found) > _MOST:
            joint = np.unique(joint, return_inverse=True)[1]
            size = len(rows)
        joint, size = joint * len(found) + codes, size * len(found)
    return joint


_MOST = 1 << 62
"""A number that 64 bits hold; rows times the different values of one column are always fewer."""


def _any(flags: NDArray[np.bool_], groups: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each row whether a row of its group has the flag."""
    found: NDArray[np.bool_] = (np.bincount(groups, weights=flags) > 0)[groups]
    return found
