"""Failures by the environment, as the store has them."""

from __future__ import annotations

from flake_report.model.failure import Blame
from flake_report.model.incident import Struck
from flake_report.model.query import Pools, Query
from flake_report.model.rate import Variant
from flake_report.model.results import TestId

from .store import Store


def struck(store: Store, query: Query, pools: Pools | None = None) -> tuple[Struck, ...]:
    """Every variant that the environment failed in the selected jobs, whatever test was asked for."""
    rows = store.answer("struck", ("attempts",), query, pools).to_pylist()
    return tuple(
        Struck(
            order=row["place"],
            job=row["job"],
            agent=row["agent"],
            host=row["host"],
            signature=row["signature"],
            blame=Blame(row["blame"]),
            ordinal=row["ordinal"],
            fingerprint=row["fingerprint"],
            variant=Variant(
                TestId(row["classname"], row["name"], row["apart"]), row["step"], row["queue"], row["session_key"]
            ),
        )
        for row in rows
    )
