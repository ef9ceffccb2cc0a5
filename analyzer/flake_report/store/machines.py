"""Where jobs ran, as the store has it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from flake_report.model.machines import Coded, Elsewhere, JobPlaces
from flake_report.model.query import Pools, Query

from .columns import coded, numbers, records, texts
from .store import Store


def jobs_ran(store: Store, query: Query, pools: Pools | None = None) -> pa.Table:
    """The selected jobs that have results or were lost, as `machines.sql` tells them.

    There are millions of jobs in a long history, so none of them becomes an object of its own.
    """
    return store.answer("machines", (), query, pools)


def job_places(rows: pa.Table, *, own: Collection[str] = (), victims: Collection[str] = ()) -> JobPlaces:
    """These jobs, in order of steps and queues, and then of builds and ids.

    `own` and `victims` are the ids of jobs with trouble of these kinds.
    """
    return JobPlaces(
        order=numbers(rows["place"]).astype(np.int32, copy=False),
        step=_coded(rows["step"]),
        queue=_coded(rows["queue"]),
        machine=_coded(rows["machine"]),
        command=_coded(rows["command"]),
        retry=numbers(rows["retry"]),
        own=_among(rows["job"], own),
        victim=_among(rows["job"], victims),
        lost=numbers(rows["lost"]),
    )


def elsewhere(store: Store, query: Query) -> tuple[Elsewhere, ...]:
    """What failed on each machine and ran on others too, and what became of it; whatever test was asked for."""
    return tuple(Elsewhere(**row) for row in records(store.answer("elsewhere", ("attempts",), query)))


def _coded(column: pa.ChunkedArray) -> Coded:
    """A column of texts; codes in whatever order they come."""
    codes, names = coded(column)
    return Coded(codes, tuple(names))


def _among(ids: pa.ChunkedArray, some: Collection[str]) -> NDArray[np.bool_]:
    return numbers(pc.is_in(ids, value_set=texts(some).cast(ids.type)))
