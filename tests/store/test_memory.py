"""GPU-memory events from the store's rows; what is asked for was put in, and is counted by hand."""

from __future__ import annotations

from types import SimpleNamespace

from flake_report.model.evidence import JobState, RetryType
from flake_report.model.failure import Blame, Cause, Diagnosis, DiagnosisKind
from flake_report.model.memory_event import JobRetry, RetryEnd
from flake_report.model.query import Query
from flake_report.model.record import MemorySample, SampleMoment
from flake_report.store import Store
from flake_report.store.memory import memory_events

CAPTURES = {"free_gib": 4.51, "total_gib": 22.05}
DIAGNOSIS = Diagnosis(DiagnosisKind.UNDETERMINED, "held by unknown", "look")


def cause(**fields: object) -> Cause:
    given = {
        "signature": "free-memory-at-start", "title": "t", "blame": Blame.GPU_MEMORY, "line": 97, "text": "text",
        "hint": "hint", "test": "x.py::test_y", "captures": CAPTURES, "diagnosis": DIAGNOSIS,
    }  # fmt: skip
    return Cause(**{**given, **fields})


def failed(make: SimpleNamespace, name: str, **fields: object) -> object:
    return make.job(name, state=JobState.FAILED, exit_status=1, **fields)


def test_an_event_is_told_with_its_build_its_place_and_its_numbers(store: Store, make: SimpleNamespace) -> None:
    start = MemorySample(None, "0", SampleMoment.JOB_START, used=5 << 30, total=22 << 30)
    later = MemorySample(None, "0", SampleMoment.AFTER, used=9 << 30, total=22 << 30)
    record = make.record(make.build(7), failed(make, "a", step="kv"), causes=(cause(),), memory=(start, later))
    store.ingest([record])
    [event] = memory_events(store, Query()).events
    assert (event.build, event.created_at, event.step, event.queue, event.agent) == (
        "7", make.build(7).created_at, "kv", "gpu_1", "agent-1",
    )  # fmt: skip
    assert (event.signature, event.kind, event.test, event.line) == (
        "free-memory-at-start", "undetermined", "x.py::test_y", 97,
    )  # fmt: skip
    assert event.captures == CAPTURES
    assert event.at_start == 5 << 30
    assert event.retries == ()


def test_the_least_before_any_test_tells_how_full_the_card_was_when_the_job_began(
    store: Store, make: SimpleNamespace
) -> None:
    total = 22 << 30
    samples = [
        MemorySample(None, "cuda:0", SampleMoment.BEFORE, free=total - (3 << 30), total=total, test="x.py::test_a"),
        MemorySample(None, "cuda:0", SampleMoment.AFTER, free=total - (1 << 30), total=total, test="x.py::test_a"),
        MemorySample(None, "cuda:0", SampleMoment.BEFORE, used=15 << 30, total=total, test="x.py::test_y"),
        MemorySample(None, "cuda:1", SampleMoment.BEFORE, used=1 << 30, total=total, test="x.py::test_a"),
    ]
    table = MemorySample(None, "0", SampleMoment.JOB_START, used=5 << 30, total=total)
    store.ingest(
        [
            make.record(make.build(1), failed(make, "a"), causes=(cause(),), memory=samples),
            make.record(make.build(2), failed(make, "b"), causes=(cause(),), memory=(*samples, table)),
            make.record(make.build(3), failed(make, "c"), causes=(cause(),)),
        ]
    )
    assert [event.at_start for event in memory_events(store, Query()).events] == [3 << 30, 3 << 30, None]


def test_an_event_that_was_read_before_events_were_diagnosed_is_told(store: Store, make: SimpleNamespace) -> None:
    store.ingest([make.record(make.build(7), failed(make, "a"), causes=(cause(diagnosis=None),))])
    assert [event.kind for event in memory_events(store, Query()).events] == [""]


def test_failures_of_something_else_are_no_events(store: Store, make: SimpleNamespace) -> None:
    other = cause(signature="no-space-left", blame=Blame.INFRA, diagnosis=None)
    store.ingest([make.record(make.build(7), failed(make, "a"), causes=(other,))])
    assert memory_events(store, Query()).events == ()


def test_a_retry_is_told_with_its_end_and_its_agent(store: Store, make: SimpleNamespace) -> None:
    again = {"retry_type": RetryType.AUTOMATIC, "attempt": 1}
    store.ingest(
        [
            make.record(make.build(1), failed(make, "a"), causes=(cause(),)),
            make.record(make.build(1), make.job("a2", retry_of="a", **again)),
            make.record(make.build(2), failed(make, "b"), causes=(cause(),)),
            make.record(make.build(2), failed(make, "b2", retry_of="b", agent="agent-2", **again), causes=(cause(),)),
            make.record(make.build(3), failed(make, "c"), causes=(cause(), cause(line=200, test="x.py::test_z"))),
            make.record(make.build(3), failed(make, "c2", retry_of="c", **again)),
        ]
    )
    retries = [(event.job, event.test, event.retries) for event in memory_events(store, Query()).events]
    assert retries == [
        ("a", "x.py::test_y", (JobRetry(RetryEnd.PASSED, same_agent=True),)),
        ("b", "x.py::test_y", (JobRetry(RetryEnd.AGAIN, same_agent=False),)),
        ("b2", "x.py::test_y", ()),
        ("c", "x.py::test_y", (JobRetry(RetryEnd.OTHERWISE, same_agent=True),)),
        ("c", "x.py::test_z", (JobRetry(RetryEnd.OTHERWISE, same_agent=True),)),
    ]


def test_builds_that_ran_the_step_to_its_end_are_told_by_agent_that_met_an_event(
    store: Store, make: SimpleNamespace
) -> None:
    store.ingest(
        [
            make.record(make.build(1), make.job("a", step="kv")),
            make.record(make.build(2), failed(make, "b", step="kv", agent="agent-2"), causes=(cause(),)),
            make.record(make.build(3), make.job("c", step="kv", exit_status=-1), causes=(cause(),)),
            make.record(make.build(4), make.job("d", step="kv")),
            make.record(make.build(4), make.job("e", step="kv", queue="other")),
            make.record(make.build(5), make.job("f", step="kv", agent="agent-3")),
            make.record(make.build(6), make.job("g", step="other")),
        ]
    )
    assert memory_events(store, Query()).ran == {("kv", "gpu_1", "agent-1"): (0, 3), ("kv", "gpu_1", "agent-2"): (1,)}


def test_a_job_that_was_ingested_again_counts_once(store: Store, make: SimpleNamespace) -> None:
    record = make.record(make.build(1), failed(make, "a"), causes=(cause(),))
    store.ingest([record])
    store.ingest([record])
    assert len(memory_events(store, Query()).events) == 1
