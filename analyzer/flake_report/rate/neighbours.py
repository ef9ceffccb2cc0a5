"""Whether memory that is missing in build after build is a neighbour's, or came back by itself on retries.

A neighbour holds the same amount in every build, so exactly as much is free each time; so does an earlier engine with
the same setting, which is therefore looked for first. What only happens now and then is no neighbour, however equal
its numbers: the job's own tests leave the same amount each time they leave one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flake_report.model.failure import DiagnosisKind
from flake_report.model.memory_event import BuildsRun, MemoryEvent, RetryEnd
from flake_report.model.query import label

GIB = 1 << 30
LEAST_BUILDS = 3
"""Builds with the same free value before it counts as always the same."""
LEAST_RETRIES = 2
"""Retries on the same agent that passed before they count as a habit."""
OPEN = frozenset({DiagnosisKind.OTHER_PROCESS, DiagnosisKind.UNDETERMINED})
"""Diagnoses that history may replace: the others rest on stronger evidence than repetition."""
_LIKE_THE_SETTING = 0.3
"""GiB: memory in use that is this near to what was asked may be an engine with the same setting."""


def alike(one: MemoryEvent, other: MemoryEvent) -> bool:
    """The same signature in the same test; outside tests, the same setting on a card of the same size."""
    if one.signature != other.signature or same_test(one) != same_test(other):
        return False
    return bool(one.test) or _equal(one, other, "total_gib", "utilization")


def same_test(event: MemoryEvent) -> str | None:
    """The test of an event in the one spelling of all its node ids: with or without `tests/`, as pytest was started."""
    return label(event.test) if event.test else None


def same_free(one: MemoryEvent, other: MemoryEvent) -> bool:
    """Whether exactly as much was free on a card of the same size, as printed."""
    return "free_gib" in one.captures and _equal(one, other, "free_gib", "total_gib")


def _equal(one: MemoryEvent, other: MemoryEvent, *names: str) -> bool:
    return all(one.captures.get(name) == other.captures.get(name) for name in names)


def used_gib(event: MemoryEvent) -> float | None:
    """GiB in use on the card, from the printed sizes; None where they are none of a card."""
    free, total = event.captures.get("free_gib"), event.captures.get("total_gib")
    if isinstance(free, float | int) and isinstance(total, float | int) and free <= total:
        return total - free
    return None


def neighbour(event: MemoryEvent, events: Iterable[MemoryEvent], ran: BuildsRun, *, last: int | None) -> bool:
    """Whether a co-tenant explains this event, by all events like it (this one among them).

    `last` is the place of the newest build that is looked at; None looks at all.
    """
    used, asked = used_gib(event), event.captures.get("requested_gib")
    if used is None or (isinstance(asked, float | int) and abs(used - asked) <= _LIKE_THE_SETTING):
        return False
    near = [one for one in events if last is None or one.place <= last]
    same = [one for one in near if same_free(one, event)]
    if len({one.place for one in same}) < LEAST_BUILDS or any(one.kind not in OPEN for one in same):
        return False
    if any(one.at_start is not None and one.at_start < used * GIB / 2 for one in same):
        return False  # the card was not so full when the job began
    first = min(one.place for one in same)
    if any(not same_free(one, event) for one in near if one.place >= first):
        return False
    return not _ran_without(same, ran, last)


def _ran_without(same: Sequence[MemoryEvent], ran: BuildsRun, last: int | None) -> bool:
    """Whether the step ran on these agents in between without the event: a neighbour would have been there."""
    met = {event.place for event in same}
    where = {(event.step, event.queue, event.agent) for event in same}
    places = {place for key in where for place in ran.get(key, ()) if place >= min(met)}
    return any(place not in met and (last is None or place <= last) for place in places)


def late_release(events: Iterable[MemoryEvent]) -> int:
    """How many retries on the same agent passed, if all of them did; 0 where some did not, or too few were tried."""
    near = [retry for event in one_a_job(events) for retry in event.retries[:1] if retry.same_agent]
    passed = sum(retry.end is RetryEnd.PASSED for retry in near)
    return passed if LEAST_RETRIES <= len(near) == passed else 0


def one_a_job(events: Iterable[MemoryEvent]) -> list[MemoryEvent]:
    """One event a job: a job is retried once, however many events it had."""
    return list({event.job: event for event in events}.values())
