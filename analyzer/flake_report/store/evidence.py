"""The attempts behind the runs that need telling, as the store has them."""

from __future__ import annotations

from flake_report.model.evidence import RetryType
from flake_report.model.failure import Blame
from flake_report.model.query import Query
from flake_report.model.results import Outcome
from flake_report.model.story import ToldAttempt

from .columns import records
from .store import Store
from .variants import VARIANT, variant


def told_attempts(store: Store, query: Query) -> tuple[ToldAttempt, ...]:
    """Every attempt of the selected tests in runs that need telling: by variant, build and order of attempts."""
    return tuple(
        ToldAttempt(
            variant=variant([row[name] for name in VARIANT]),
            order=row["place"],
            job=row["job"],
            agent=row["agent"],
            job_attempt=row["job_attempt"],
            retry_type=RetryType(row["retry_type"]) if row["retry_type"] else None,
            died=row["died"],
            outcome=Outcome(row["outcome"]),
            environment=bool(row["blame"]) and Blame(row["blame"]).environment and Outcome(row["outcome"]).bad,
            signature=row["signature"],
            fingerprint=row["fingerprint"],
            message=row["message"],
        )
        for row in records(store.answer("evidence", ("attempts",), query))
    )
