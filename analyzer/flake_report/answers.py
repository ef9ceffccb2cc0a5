"""All that a report asks of a store besides the histories, as one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from .model.cost import JobFailure, SpentJob
from .model.incident import Struck
from .model.machines import Elsewhere
from .model.memory import Place, Start, TestOrder, Trace
from .model.memory_event import MemoryArchive
from .model.query import Pools, Query
from .model.report import Health, Window
from .store import Store
from .store.asked import pools_of
from .store.cost import job_failures, spent_jobs
from .store.histories import Counts
from .store.incidents import struck
from .store.machines import elsewhere, jobs_ran
from .store.memory import memory_events
from .store.order import orders, traces
from .store.tuning import held, starts


@dataclass(frozen=True, slots=True)
class Answers:
    """What the store says of a question; each field as the function of its name in `store` tells it."""

    jobs_ran: pa.Table
    struck: tuple[Struck, ...]
    orders: tuple[TestOrder, ...]
    traces: tuple[Trace, ...]
    held: Mapping[tuple[str, Place], int]
    memory_events: MemoryArchive
    spent_jobs: tuple[SpentJob, ...]
    job_failures: tuple[JobFailure, ...]
    elsewhere: tuple[Elsewhere, ...]
    health: Health
    window: Window


class Asked(NamedTuple):
    """The histories of a question, not yet folded, with what tells where else to look.

    `pools` are where the tests run that it names, None where it names none and so is about all that ran; `begun` are
    the starts of engines in these tests.
    """

    counts: Counts
    begun: tuple[Start, ...]
    pools: Pools | None


def asked(store: Store, query: Query) -> Asked:
    """The histories, and where to look for the rest: what happened where a test does not run says nothing of it.

    A test whose jobs all died left no attempt, and yet it began engines.
    """
    counts, begun = store.counts(query), starts(store, query)
    if query.test is None:
        return Asked(counts, begun, None)
    return Asked(counts, begun, pools_of(counts) | {(start.place.step, start.place.queue) for start in begun})


def answers(store: Store, query: Query, pools: Pools | None) -> Answers:
    """What the store says of the question in these pools."""
    return Answers(
        jobs_ran=jobs_ran(store, query, pools),
        struck=struck(store, query, pools),
        orders=orders(store, query, pools),
        traces=traces(store, query, pools),
        held=held(store, query),
        memory_events=memory_events(store, query, pools),
        spent_jobs=spent_jobs(store, query, pools),
        job_failures=job_failures(store, query, pools),
        elsewhere=elsewhere(store, query),
        health=store.health(query),
        window=store.window(query),
    )
