"""All that a report asks of a store, in the order in which it can use the answers."""

from __future__ import annotations

from collections.abc import Mapping
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


class Jobs(NamedTuple):
    """Where jobs ran, who failed in them by the environment, and what failed on one machine and ran on another."""

    ran: pa.Table
    struck: tuple[Struck, ...]
    elsewhere: tuple[Elsewhere, ...]


def jobs(store: Store, query: Query, pools: Pools | None) -> Jobs:
    """The jobs of these pools; what failed on one machine and ran on another is told of all."""
    return Jobs(jobs_ran(store, query, pools), struck(store, query, pools), elsewhere(store, query))


class Memory(NamedTuple):
    """All that is known of GPU memory: what ran before whom, samples, what tests held, events."""

    orders: tuple[TestOrder, ...]
    traces: tuple[Trace, ...]
    held: Mapping[tuple[str, Place], int]
    events: MemoryArchive


def memory(store: Store, query: Query, pools: Pools | None) -> Memory:
    """GPU memory in these pools."""
    return Memory(
        orders(store, query, pools),
        traces(store, query, pools),
        held(store, query),
        memory_events(store, query, pools),
    )


class Rest(NamedTuple):
    """What failures cost, and whether the data can be trusted."""

    spent_jobs: tuple[SpentJob, ...]
    job_failures: tuple[JobFailure, ...]
    health: Health
    window: Window


def rest(store: Store, query: Query, pools: Pools | None) -> Rest:
    """The rest, of these pools."""
    return Rest(
        spent_jobs(store, query, pools), job_failures(store, query, pools), store.health(query), store.window(query)
    )
