"""Where jobs ran, as the store has it."""

from __future__ import annotations

from flake_report.model.machines import Elsewhere, JobPlace
from flake_report.model.query import Query

from .store import Store


def job_places(store: Store, query: Query) -> tuple[JobPlace, ...]:
    """The selected jobs that have results or were lost, in order of builds."""
    return tuple(
        JobPlace(
            order=row["place"],
            job=row["job"],
            step=row["step"],
            queue=row["queue"],
            machine=row["machine"],
            command=row["command"],
            retry=row["retry"],
            lost=row["lost"],
        )
        for row in store.answer("machines", (), query).to_pylist()
    )


def elsewhere(store: Store, query: Query) -> tuple[Elsewhere, ...]:
    """What failed on each machine, and what became of it on others; whatever test was asked for."""
    return tuple(Elsewhere(**row) for row in store.answer("elsewhere", ("attempts",), query).to_pylist())
