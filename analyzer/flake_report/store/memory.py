"""GPU-memory events of a store, as the rates read them."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import groupby
from operator import itemgetter
from typing import Any

from flake_report.model.failure import Captured
from flake_report.model.memory_event import JobRetry, MemoryArchive, MemoryEvent, RetryEnd
from flake_report.model.query import Pools, Query

from .columns import records, tuples
from .store import Store


def memory_events(store: Store, query: Query, pools: Pools | None = None) -> MemoryArchive:
    """Every GPU-memory event in the jobs that the query selects, whatever their tests."""
    rows = records(store.answer("memory_events", ["matches", "memory"], query, pools))
    ran: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    builds = store.answer("memory_builds", ["matches"], query, pools)
    for step, queue, agent, place in tuples(builds, ("step", "queue", "agent", "place")):
        ran[step, queue, agent].append(place)
    events = tuple(_event(list(same)) for _, same in groupby(rows, key=itemgetter("job", "line", "test", "signature")))
    return MemoryArchive(events, {where: tuple(places) for where, places in ran.items()})


def _event(rows: list[dict[str, Any]]) -> MemoryEvent:
    """One event from its rows, one a retry."""
    row = rows[0]
    return MemoryEvent(
        build=row["build"],
        created_at=row["created_at"],
        place=row["place"],
        job=row["job"],
        step=row["step"],
        queue=row["queue"],
        agent=row["agent"],
        signature=row["signature"],
        kind=row["diagnosis"],
        test=row["test"] or None,
        line=row["line"],
        captures=_captures(row["captures"]),
        at_start=row["at_start"],
        retries=tuple(_retry(one) for one in rows if one["retry_state"] is not None),
    )


def _retry(row: dict[str, Any]) -> JobRetry:
    end = RetryEnd.AGAIN if row["refused_again"] else RetryEnd.OTHERWISE
    if row["retry_state"] == "passed":
        end = RetryEnd.PASSED
    return JobRetry(end, same_agent=bool(row["agent"]) and row["agent"] == row["retry_agent"])


def _captures(text: str | None) -> dict[str, Captured]:
    """The captures as they were written; nothing where the column holds something else."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
