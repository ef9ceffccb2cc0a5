"""What builds before add to one GPU-memory event: seen or new, a neighbour that is always there, a late release.

A neighbour holds the same amount in every build, so exactly as much is free each time; so does an earlier engine with
the same setting, which is therefore looked for first. What only happens now and then is no neighbour, however equal
its numbers: the job's own tests leave the same amount each time they leave one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake_report.model.failure import HELD, Cause, Diagnosis, DiagnosisKind, MemoryPast
from flake_report.model.memory_event import MemoryArchive, MemoryEvent, RetryEnd

GIB = 1 << 30
LEAST_BUILDS = 3
"""Builds with the same free value, this one among them, before it counts as always the same."""
LEAST_RETRIES = 2
_LIKE_THE_SETTING = 0.3
"""GiB: memory in use that is this near to what was asked may be an engine with the same setting."""
_OPEN = frozenset({DiagnosisKind.OTHER_PROCESS, DiagnosisKind.UNDETERMINED})
"""Diagnoses that history may replace: the others rest on stronger evidence than repetition."""


def with_past(cause: Cause, archive: MemoryArchive) -> Cause:
    """The cause with what the store tells of events like it, and with the diagnosis that follows from that."""
    if cause.diagnosis is None:
        return cause
    events, own = _others(cause, [event for event in archive.events if _alike(cause, event)])
    if not events:
        return replace(cause, past=MemoryPast("in no other build of this store"))
    same = [event for event in events if _same_free(cause, event)]
    past = _past(events, same)
    found = _neighbour(cause, events, same, archive, own) or _late_release(cause, events)
    return replace(cause, past=past, diagnosis=found or cause.diagnosis)


def _alike(cause: Cause, event: MemoryEvent) -> bool:
    """The same signature, in the same test; outside tests with the same setting on a card of the same size."""
    if event.signature != cause.signature or (event.test or None) != cause.test:
        return False
    names = () if cause.test else ("total_gib", "utilization")
    return all(event.captures.get(name) == cause.captures.get(name) for name in names)


def _others(cause: Cause, events: Sequence[MemoryEvent]) -> tuple[list[MemoryEvent], MemoryEvent | None]:
    """The events without this very one, which the store may hold: the newest on the same line, told alike."""
    alike = [event for event in events if event.line == cause.line and dict(event.captures) == dict(cause.captures)]
    own = alike[-1] if alike else None
    return [event for event in events if event is not own], own


def _same_free(cause: Cause, event: MemoryEvent) -> bool:
    free = cause.captures.get("free_gib")
    return free is not None and all(
        event.captures.get(name) == cause.captures.get(name) for name in ("free_gib", "total_gib")
    )


def _past(events: Sequence[MemoryEvent], same: Sequence[MemoryEvent]) -> MemoryPast:
    first, last = events[0], events[-1]
    builds, equal = _builds(events), _builds(same)
    retries = [retry for event in _jobs(events) for retry in event.retries[:1]]
    ends = [retry.end for retry in retries]
    recovered, again = ends.count(RetryEnd.PASSED), ends.count(RetryEnd.AGAIN)
    if builds > 1:
        told = [f"in {builds} other builds, first {first.build} on {first.created_at:%Y-%m-%d}, last {last.build}"]
    else:
        told = [f"in one other build, {first.build} on {first.created_at:%Y-%m-%d}"]
    if same:
        where = f" in {equal} of them" if builds > 1 else ""
        told.append(f"exactly as much was free{where}, {same[-1].captures['free_gib']} GiB")
    if retries:
        near = sum(retry.same_agent for retry in retries if retry.end is RetryEnd.PASSED)
        told.append(
            f"of {len(retries)} retried jobs {recovered} passed"
            + (f" ({near} on the same agent)" if near else "")
            + (f" and {again} met it again" if again else "")
        )
    return MemoryPast(
        sentence="; ".join(told),
        builds=builds,
        first_build=first.build,
        first_at=first.created_at,
        last_build=last.build,
        last_at=last.created_at,
        same_free=equal,
        retried=len(retries),
        recovered=recovered,
        failed_again=again,
    )


def _neighbour(
    cause: Cause,
    events: Sequence[MemoryEvent],
    same: Sequence[MemoryEvent],
    archive: MemoryArchive,
    own: MemoryEvent | None,
) -> Diagnosis | None:
    """A co-tenant: the same free value in every build since the first, and no engine of the job's own in sight."""
    used, asked = _used(cause), cause.captures.get("requested_gib")
    if cause.diagnosis is None or cause.diagnosis.kind not in _OPEN or used is None or not same:
        return None
    since = [event for event in events if event.place >= same[0].place]
    if _builds(same) + 1 < LEAST_BUILDS or len(since) != len(same):
        return None
    if isinstance(asked, float | int) and abs(used - asked) <= _LIKE_THE_SETTING:
        return None
    if any(event.kind not in _OPEN | {DiagnosisKind.CO_TENANT} for event in same):
        return None
    if _ran_without([*same, own] if own else same, archive, to_the_end=own is None):
        return None
    evidence = tuple(f"build {event.build}: {event.captures['free_gib']} GiB free" for event in same[-LEAST_BUILDS:])
    says = (
        f"{HELD}a co-tenant: in every build since {same[0].build} ({_builds(same)} before this one) exactly "
        f"{cause.captures['free_gib']} GiB was free, so {used:.2f} GiB is taken whatever the job does"
    )
    advice = "look at what shares the card; until it goes, the setting must fit beside it"
    most = cause.largest_utilization
    advice = f"{most:.2f} is the most that would have started; {advice}" if most else advice
    return Diagnosis(DiagnosisKind.CO_TENANT, says, advice, (*cause.diagnosis.evidence, *evidence))


def _ran_without(same: Sequence[MemoryEvent], archive: MemoryArchive, *, to_the_end: bool) -> bool:
    """Whether the step ran on these agents in between without the event: a neighbour would have been there.

    `to_the_end`: the newest event's build is not known, so all builds since the first are looked at.
    """
    met = {event.place for event in same}
    where = {(event.step, event.queue, event.agent) for event in same}
    places = {place for key in where for place in archive.ran.get(key, ()) if place >= min(met)}
    return any(place not in met and (to_the_end or place <= max(met)) for place in places)


def _late_release(cause: Cause, events: Sequence[MemoryEvent]) -> Diagnosis | None:
    """Retries on the same agent that all passed: what held the memory let go by itself."""
    if cause.diagnosis is None or cause.diagnosis.kind not in _OPEN:
        return None
    near = [retry for event in _jobs(events) for retry in event.retries[:1] if retry.same_agent]
    if len(near) < LEAST_RETRIES or any(retry.end is not RetryEnd.PASSED for retry in near):
        return None
    says = f"all {len(near)} retries on the same agent passed in builds before: what held the memory let go by itself"
    advice = "wait until the card is clear before each engine starts; a retry passes and hides who lets go so late"
    return Diagnosis(DiagnosisKind.SLOW_RELEASE, says, advice, cause.diagnosis.evidence)


def _used(cause: Cause) -> float | None:
    free, total = cause.captures.get("free_gib"), cause.captures.get("total_gib")
    if isinstance(free, float | int) and isinstance(total, float | int) and free <= total:
        return total - free
    return None


def _builds(events: Sequence[MemoryEvent]) -> int:
    return len({event.place for event in events})


def _jobs(events: Sequence[MemoryEvent]) -> list[MemoryEvent]:
    """One event a job: a job is retried once, however many events it had."""
    return list({event.job: event for event in events}.values())
