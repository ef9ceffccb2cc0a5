"""Engine starts, and what tests held of the card, as the store has them."""

from __future__ import annotations

from typing import Any

from flake_report.model.memory import Place, Start
from flake_report.model.query import Query, label, of_test

from .columns import records
from .store import Store

REFUSED, UP = "free memory", "started"
"""Outcomes as the log's reader names them: not let in for want of free memory (`engines.sql` knows it, too), and come
up; any other is of an engine that was let in and stopped later."""


def starts(store: Store, query: Query) -> tuple[Start, ...]:
    """Starts of engines that say their setting and how they went, one a job, in the tests that the query names."""
    rows = records(store.answer("engines", ("engines", "memory"), query))
    asked = of_test(query.test or "*")
    return tuple(_start(row) for row in rows if asked.matches(label(row["test"])))


def held(store: Store, query: Query) -> dict[tuple[str, Place], int]:
    """For each test and place, the most that the recorder saw an attempt hold at its end beyond what it found."""
    found: dict[tuple[str, Place], int] = {}
    for row in records(store.answer("peaks", ("memory",), query)):
        at = label(row["test"]), Place(row["step"], row["queue"])  # one test may have node ids in two spellings
        found[at] = max(row["held"], found.get(at, 0))
    return found


def _start(row: dict[str, Any]) -> Start:
    return Start(
        test=label(row["test"]),
        place=Place(row["step"], row["queue"]),
        build=row["build"],
        job=row["job"],
        created_at=row["newest"],
        utilization=row["utilization"],
        refused=row["refused"],
        up=row["outcome"] == UP,
        free=row["free"],
        total=row["total"],
        requested=row["requested"],
        base=row["base"],
        kv=row["kv"],
        device=row["device"] or "",
        count=row["starts"],
    )
