"""Where jobs ran, as the store has it."""

from __future__ import annotations

from flake_report.model.machines import Elsewhere, JobPlace
from flake_report.model.query import Pools, Query

from .store import Store


def job_places(store: Store, query: Query, pools: Pools | None = None) -> tuple[JobPlace, ...]:
    """The selected jobs that have results or were lost, in order of builds."""
    rows = store.answer("machines", (), query, pools)
    columns = (rows[name].to_pylist() for name in ("place", *JobPlace._fields[1:]))
    return tuple(map(JobPlace._make, zip(*columns, strict=True)))


def elsewhere(store: Store, query: Query) -> tuple[Elsewhere, ...]:
    """What failed on each machine and ran on others too, and what became of it; whatever test was asked for."""
    return tuple(Elsewhere(**row) for row in store.answer("elsewhere", ("attempts",), query).to_pylist())
