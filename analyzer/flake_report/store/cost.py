"""Jobs that failed or retried another, and what failed in them, as the store has them."""

from __future__ import annotations

from datetime import datetime

from flake_report.model.cost import JobFailure, SpentJob
from flake_report.model.query import Pools, Query
from flake_report.model.rate import Variant
from flake_report.model.results import TestId

from .store import Store


def spent_jobs(store: Store, query: Query, pools: Pools | None = None) -> tuple[SpentJob, ...]:
    """Every job of the query's steps and queues that failed or retried another; `order` as in the fleet's histories."""
    return tuple(
        SpentJob(
            job=row["job"],
            order=row["place"],
            queue=row["queue"],
            seconds=_seconds(row["started_at"], row["finished_at"]),
            failed=row["failed"],
            died=row["died"],
            canceled=row["state"] == "canceled",
            retry_of=row["retry_of"],
            signature=row["signature"],
        )
        for row in store.answer("spent", ("matches",), query, pools).to_pylist()
    )


def _seconds(started: datetime | None, finished: datetime | None) -> float | None:
    return None if started is None or finished is None else (finished - started).total_seconds()


def job_failures(store: Store, query: Query, pools: Pools | None = None) -> tuple[JobFailure, ...]:
    """Every variant that failed in a job."""
    return tuple(
        JobFailure(
            job=row["job"],
            order=row["place"],
            variant=Variant(
                TestId(row["classname"], row["name"], row["apart"]), row["step"], row["queue"], row["session_key"]
            ),
            signature=row["signature"],
            fingerprint=row["fingerprint"],
            victim=row["victim"],
        )
        for row in store.answer("failures", ("attempts",), query, pools).to_pylist()
    )
