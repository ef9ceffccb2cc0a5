"""Engine starts, and what tests held of the card, as the store has them."""

from __future__ import annotations

from typing import Any

from flake_report.model.memory import Place, Start
from flake_report.model.query import Query, label, of_test

from .store import Store

REFUSED, UP = "free memory", "started"
"""The outcomes of an engine that was not let in for want of free memory, and of one that came up; contract with parse:
any other outcome is of an engine that was let in and stopped later."""


def starts(store: Store, query: Query) -> tuple[Start, ...]:
    """Every start of an engine that says its setting and how it went, in the tests that the query names."""
    rows = store.answer("engines", ("engines", "memory"), query).to_pylist()
    asked = of_test(query.test or "*")
    return tuple(_start(row) for row in rows if asked.matches(label(row["test"])))


def held(store: Store, query: Query) -> dict[tuple[str, Place], int]:
    """For each test and place, the most that the recorder saw an attempt hold at its end beyond what it found."""
    rows = store.answer("peaks", ("memory",), query).to_pylist()
    return {(label(row["test"]), Place(row["step"], row["queue"])): max(row["held"], 0) for row in rows}


def _start(row: dict[str, Any]) -> Start:
    parts = [row["weight"], row["activation"], row["non_torch"]]
    told = [part for part in parts if part is not None]
    return Start(
        test=label(row["test"]),
        place=Place(row["step"], row["queue"]),
        build=row["build"],
        job=row["job"],
        created_at=row["created_at"],
        utilization=row["utilization"],
        refused=row["outcome"] == REFUSED,
        up=row["outcome"] == UP,
        free=row["free"],
        total=row["total"],
        requested=row["requested"],
        base=sum(told) if told else None,
        kv=row["kv"],
        device=row["device"] or "",
    )
