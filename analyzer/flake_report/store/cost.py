"""Jobs that failed or retried another, and what failed in them, as the store has them."""

from __future__ import annotations

from datetime import datetime

from flake_report.model.cost import JobFailure, SpentJob
from flake_report.model.made import made
from flake_report.model.query import Pools, Query

from .columns import tuples, values
from .store import Store
from .variants import variants

_SPENT = ("job", "place", "queue", "started_at", "finished_at", "failed", "died", "state", "retry_of", "signature")
_FAILURE = ("job", "place", "signature", "fingerprint", "victim")


def spent_jobs(store: Store, query: Query, pools: Pools | None = None) -> tuple[SpentJob, ...]:
    """Every job of the query's steps and queues that failed or retried another; `order` as in the fleet's histories."""
    rows = tuples(store.answer("spent", ("matches",), query, pools), _SPENT)
    return tuple(
        SpentJob(
            job=job,
            order=place,
            queue=queue,
            seconds=_seconds(started, finished),
            failed=failed,
            died=died,
            canceled=state == "canceled",
            retry_of=retry_of,
            signature=signature,
        )
        for job, place, queue, started, finished, failed, died, state, retry_of, signature in rows
    )


def _seconds(started: datetime | None, finished: datetime | None) -> float | None:
    return None if started is None or finished is None else (finished - started).total_seconds()


def job_failures(store: Store, query: Query, pools: Pools | None = None) -> tuple[JobFailure, ...]:
    """Every variant that failed in a job."""
    rows = store.answer("failures", ("attempts",), query, pools)
    job, place, *rest = (values(rows[name]) for name in _FAILURE)
    return tuple(made(JobFailure, zip(job, place, variants(rows), *rest, strict=True)))
