"""What a history adds to GPU-memory events: seen or new, a neighbour that is always there, a late release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import itemgetter

from flake_report.model.failure import HELD, Cause, Diagnosis, DiagnosisKind, MemoryPast
from flake_report.model.memory import Diagnosed, Place
from flake_report.model.memory_event import MemoryArchive, MemoryEvent, RetryEnd

from .neighbours import LEAST_BUILDS, OPEN, alike, late_release, neighbour, one_a_job, same_free, same_test, used_gib


def with_past(cause: Cause, archive: MemoryArchive) -> Cause:
    """The cause with what the store tells of events like it, and with the diagnosis that follows from that."""
    if cause.diagnosis is None:
        return cause
    this = _as_event(cause, archive)
    events = [event for event in archive.events if alike(event, this)]
    own = _own(this, events)
    others = [event for event in events if event is not own]
    if not others:
        return replace(cause, past=MemoryPast("in no other build of this store"))
    past = _past(others, [event for event in others if same_free(event, this)])
    if cause.diagnosis.kind not in OPEN:
        return replace(cause, past=past)
    last = own.place if own else None
    if neighbour(this, [*others, replace(this, place=last) if last is not None else this], archive.ran, last=last):
        return replace(cause, past=past, diagnosis=_co_tenant(cause, cause.diagnosis, this, others))
    if passed := late_release(others):
        return replace(cause, past=past, diagnosis=_slow(cause.diagnosis, passed))
    return replace(cause, past=past)


def diagnoses(archive: MemoryArchive) -> tuple[Diagnosed, ...]:
    """How many events of each kind there were in each place, after history has added what single jobs cannot know."""
    groups: dict[tuple[str, str | None], list[MemoryEvent]] = defaultdict(list)
    for event in archive.events:
        groups[event.signature, same_test(event)].append(event)
    found: dict[tuple[str, Place], list[MemoryEvent]] = defaultdict(list)
    for group in groups.values():
        for event in (one for one in group if one.kind):
            found[_kind(event, group, archive), Place(event.step, event.queue)].append(event)
    return tuple(
        Diagnosed(kind, place, len(events), len({event.job for event in events}))
        for (kind, place), events in sorted(found.items(), key=itemgetter(0))
    )


def _kind(event: MemoryEvent, group: Sequence[MemoryEvent], archive: MemoryArchive) -> str:
    if event.kind not in OPEN:
        return event.kind
    events = [other for other in group if alike(other, event)]
    last = max(other.place for other in events if same_free(other, event) or other is event)
    if neighbour(event, events, archive.ran, last=last):
        return DiagnosisKind.CO_TENANT.value
    return DiagnosisKind.SLOW_RELEASE.value if late_release(events) else event.kind


def _as_event(cause: Cause, archive: MemoryArchive) -> MemoryEvent:
    """The cause as an event of a build after all that the store knows."""
    places = [event.place for event in archive.events] + [place for ran in archive.ran.values() for place in ran]
    return MemoryEvent(
        build="",
        created_at=_SOME_TIME,
        place=max(places, default=-1) + 1,
        job="",
        step="",
        queue="",
        agent="",
        signature=cause.signature,
        kind=cause.diagnosis.kind.value if cause.diagnosis else "",
        test=cause.test,
        line=cause.line,
        captures=cause.captures,
    )


def _own(this: MemoryEvent, events: Sequence[MemoryEvent]) -> MemoryEvent | None:
    """This very event, if the store holds it already: the newest on the same line that is told alike."""
    told = [event for event in events if event.line == this.line and dict(event.captures) == dict(this.captures)]
    return told[-1] if told else None


def _past(events: Sequence[MemoryEvent], same: Sequence[MemoryEvent]) -> MemoryPast:
    first, last = events[0], events[-1]
    builds, equal = _builds(events), _builds(same)
    retries = [retry for event in one_a_job(events) for retry in event.retries[:1]]
    ends = [retry.end for retry in retries]
    recovered, again = ends.count(RetryEnd.PASSED), ends.count(RetryEnd.AGAIN)
    if builds > 1:
        told = [f"in {builds} other builds, first {first.build} on {first.created_at:%Y-%m-%d}, last {last.build}"]
    else:
        told = [f"in one other build, {first.build} on {first.created_at:%Y-%m-%d}"]
    if same:
        where = "" if builds == 1 else " in all of them" if equal == builds else f" in {equal} of them"
        told.append(f"exactly as much was free{where}, {same[-1].captures['free_gib']} GiB")
    if retries:
        near = sum(retry.same_agent for retry in retries if retry.end is RetryEnd.PASSED)
        told.append(
            f"of {len(retries)} retried jobs {recovered or 'none'} passed"
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


def _co_tenant(cause: Cause, known: Diagnosis, this: MemoryEvent, events: Sequence[MemoryEvent]) -> Diagnosis:
    same = [event for event in events if same_free(event, this)]
    free, used, most = this.captures["free_gib"], used_gib(this) or 0.0, cause.largest_utilization
    always = f"in every build since {same[0].build} ({_builds(same)} others) exactly {free} GiB was free"
    if any(event.at_start is not None for event in same):  # and as full as now, or it were no neighbour
        says = f"{HELD}a co-tenant: {always}, and {used:.2f} GiB is taken whatever the job does"
        advice = "look at what shares the card; until it goes, the setting must fit beside it"
    else:
        says = f"{HELD}a co-tenant, or an earlier test that leaves as much each time: {always}"
        advice = "run nvidia-smi before the tests: what it shows is a co-tenant's, the rest a test left"
    if most:
        advice = f"{most:.2f} is the most that would have started; {advice}"
    evidence = tuple(f"build {event.build}: {free} GiB free" for event in same[-LEAST_BUILDS:])
    return Diagnosis(DiagnosisKind.CO_TENANT, says, advice, (*known.evidence, *evidence))


def _slow(known: Diagnosis, passed: int) -> Diagnosis:
    says = f"all {passed} retries on the same agent passed in other builds: what held the memory let go by itself"
    advice = "wait until the card is clear before each engine starts; a retry passes and hides who lets go so late"
    return Diagnosis(DiagnosisKind.SLOW_RELEASE, says, advice, known.evidence)


def _builds(events: Sequence[MemoryEvent]) -> int:
    return len({event.place for event in events})


_SOME_TIME = datetime.min.replace(tzinfo=UTC)
"""When the build of a log was made, which a log does not say."""
