"""What other builds tell of a GPU-memory event; each history is written out, and judged by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flake_report.model.failure import Blame, Cause, Diagnosis, DiagnosisKind
from flake_report.model.memory_event import JobRetry, MemoryArchive, MemoryEvent, RetryEnd
from flake_report.rate.memory_history import diagnoses, with_past

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
CAPTURES = {"device": "cuda:0", "free_gib": 16.56, "total_gib": 22.05, "utilization": 0.9, "requested_gib": 19.84}
"""5.49 GiB in use: nothing like the 19.84 that the setting asks for."""
UNKNOWN, OTHER = DiagnosisKind.UNDETERMINED, DiagnosisKind.OTHER_PROCESS


def cause(kind: DiagnosisKind = UNKNOWN, *, line: int = 99, **captures: float) -> Cause:
    return Cause(
        "free-memory-at-start", "t", Blame.GPU_MEMORY, line, "text", "hint", test="x.py::test_y",
        captures={**CAPTURES, **captures}, diagnosis=Diagnosis(kind, "says", "do", ("line 1: it",)),
    )  # fmt: skip


def event(
    place: int, *, kind: str = "undetermined", retries: tuple[JobRetry, ...] = (), **fields: object
) -> MemoryEvent:
    captures = {**CAPTURES, **{name: fields.pop(name) for name in list(fields) if name.endswith("_gib")}}
    given = {
        "build": str(100 + place), "created_at": NOON + timedelta(days=place), "place": place, "job": f"job-{place}",
        "step": "kv", "queue": "gpu_1", "agent": "agent-1", "signature": "free-memory-at-start", "kind": kind,
        "test": "x.py::test_y", "line": place, "captures": captures, "retries": retries,
    }  # fmt: skip
    return MemoryEvent(**{**given, **fields})


def archive(*events: MemoryEvent, ran: tuple[int, ...] | None = None) -> MemoryArchive:
    """`ran`: the builds in which the step ran on that agent; else just those of the events."""
    return MemoryArchive(
        events, {("kv", "gpu_1", "agent-1"): tuple(one.place for one in events) if ran is None else ran}
    )


def test_an_event_that_no_other_build_had_is_new() -> None:
    told = with_past(cause(), archive())
    assert told.past is not None
    assert told.past.sentence == "in no other build of this store"
    assert told.diagnosis == cause().diagnosis


def test_the_past_counts_builds_and_says_since_when() -> None:
    told = with_past(cause(), archive(event(0, free_gib=4.0), event(3), event(3, job="retry"), event(7, free_gib=5.0)))
    past = told.past
    assert past is not None
    assert (past.builds, past.first_build, past.last_build, past.same_free) == (3, "100", "107", 1)
    assert past.first_at == NOON
    assert past.sentence == (
        "in 3 other builds, first 100 on 2026-11-02, last 107; exactly as much was free in 1 of them, 16.56 GiB"
    )


def test_the_log_itself_may_be_in_the_store_and_is_not_counted() -> None:
    told = with_past(cause(line=7), archive(event(3), event(7)))
    assert told.past is not None
    assert told.past.builds == 1


def test_other_tests_and_other_signatures_are_other_events() -> None:
    told = with_past(cause(), archive(event(1, test="x.py::test_z"), event(2, signature="torch-out-of-memory")))
    assert told.past is not None
    assert told.past.builds == 0


def test_a_test_is_the_same_from_whatever_folder_pytest_was_started() -> None:
    told = with_past(cause(), archive(event(1, test="tests/x.py::test_y"), event(2, test="./x.py::test_y")))
    assert told.past is not None
    assert told.past.builds == 2


def test_outside_tests_the_card_and_the_setting_tell_events_apart() -> None:
    loose = Cause(
        "free-memory-at-start", "t", Blame.GPU_MEMORY, 9, "text", "hint", captures=CAPTURES, diagnosis=cause().diagnosis
    )
    told = with_past(loose, archive(event(1, test=None), event(2, test=None, total_gib=79.18)))
    assert told.past is not None
    assert told.past.builds == 1


@pytest.mark.parametrize("kind", [UNKNOWN, OTHER])
def test_the_same_free_value_build_after_build_is_a_co_tenant(kind: DiagnosisKind) -> None:
    told = with_past(cause(kind), archive(event(1), event(2)))
    assert told.diagnosis is not None
    assert told.diagnosis.kind is DiagnosisKind.CO_TENANT
    assert told.diagnosis.sentence == (
        "held by a co-tenant, or an earlier test that leaves as much each time: in every build since 101 (2 others) "
        "exactly 16.56 GiB was free"
    )
    assert told.diagnosis.advice.endswith(
        "run nvidia-smi before the tests: what it shows is a co-tenant's, the rest a test left"
    )
    assert told.diagnosis.advice.startswith("0.75 is the most that would have started; ")
    assert told.diagnosis.evidence == ("line 1: it", "build 101: 16.56 GiB free", "build 102: 16.56 GiB free")


def test_a_card_that_was_as_full_when_the_job_began_is_surely_a_co_tenants() -> None:
    told = with_past(cause(), archive(event(1), event(2, at_start=round(5.3 * 2**30))))
    assert told.diagnosis is not None
    # 22.05 - 16.56 = 5.49
    assert told.diagnosis.sentence == (
        "held by a co-tenant: in every build since 101 (2 others) exactly 16.56 GiB was free, and 5.49 GiB is "
        "taken whatever the job does"
    )


NO_NEIGHBOUR = {
    "two builds are no series": (cause(), archive(event(1))),
    "another value in between": (cause(), archive(event(1), event(2, free_gib=16.55), event(3))),
    "a build without it in between": (cause(), archive(event(1), event(3), ran=(1, 2, 3))),
    "a build without it since the last": (cause(), archive(event(1), event(2), ran=(1, 2, 5))),
    "an engine with the same setting would hold as much": (
        cause(free_gib=2.1), archive(event(1, free_gib=2.1), event(2, free_gib=2.1)),
    ),
    "a card that was idle when the job began": (cause(), archive(event(1, at_start=0), event(2))),
    "torch's own memory, by its snapshot": (cause(DiagnosisKind.SAME_PROCESS), archive(event(1), event(2))),
    "torch's own memory, in a build before": (cause(), archive(event(1, kind="same-process"), event(2))),
    "a card with nothing on it": (cause(DiagnosisKind.SHORTAGE), archive(event(1), event(2))),
    "a message without numbers": (
        cause(free_gib="much"), archive(event(1, free_gib="much"), event(2, free_gib="much")),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "before"), NO_NEIGHBOUR.values(), ids=NO_NEIGHBOUR)
def test_what_is_no_neighbour_keeps_its_diagnosis(one: Cause, before: MemoryArchive) -> None:
    assert with_past(one, before).diagnosis == one.diagnosis


def test_a_neighbour_that_left_after_the_build_of_this_log_was_there_all_the_same() -> None:
    told = with_past(cause(line=3), archive(event(1), event(2), event(3), ran=(1, 2, 3, 4, 5)))
    assert told.diagnosis is not None
    assert told.diagnosis.kind is DiagnosisKind.CO_TENANT


def test_builds_on_other_agents_say_nothing_of_this_ones_neighbour() -> None:
    before = archive(event(1), event(3))
    elsewhere = MemoryArchive(before.events, {**before.ran, ("kv", "gpu_1", "agent-2"): (1, 2, 3)})
    told = with_past(cause(), elsewhere)
    assert told.diagnosis is not None
    assert told.diagnosis.kind is DiagnosisKind.CO_TENANT


PASSED_HERE = JobRetry(RetryEnd.PASSED, same_agent=True)


def test_retries_that_all_passed_on_the_same_agent_tell_a_slow_release() -> None:
    before = archive(event(1, free_gib=3.0, retries=(PASSED_HERE,)), event(4, free_gib=9.0, retries=(PASSED_HERE,)))
    told = with_past(cause(), before)
    assert told.diagnosis is not None
    assert told.diagnosis.kind is DiagnosisKind.SLOW_RELEASE
    assert told.past is not None
    assert told.past.sentence.endswith("of 2 retried jobs 2 passed (2 on the same agent)")
    assert (told.past.retried, told.past.recovered, told.past.failed_again) == (2, 2, 0)


@pytest.mark.parametrize(
    "second",
    [JobRetry(RetryEnd.AGAIN, same_agent=True), JobRetry(RetryEnd.PASSED, same_agent=False)],
    ids=["met again on a retry", "passed elsewhere, on another card"],
)
def test_other_retries_tell_no_slow_release(second: JobRetry) -> None:
    before = archive(event(1, free_gib=3.0, retries=(PASSED_HERE,)), event(4, free_gib=9.0, retries=(second,)))
    assert with_past(cause(), before).diagnosis == cause().diagnosis


def test_a_node_that_stays_full_is_told() -> None:
    again = JobRetry(RetryEnd.AGAIN, same_agent=True)
    told = with_past(
        cause(), archive(*(event(place, free_gib=13.0 + place / 10, retries=(again,)) for place in range(4)))
    )
    assert told.past is not None
    assert told.past.sentence.endswith("of 4 retried jobs none passed and 4 met it again")


def test_a_history_counts_events_by_kind_with_what_it_adds_itself() -> None:
    series = [event(place) for place in (1, 2, 3)]
    single = event(4, test="x.py::test_z", kind="same-process")
    told = diagnoses(archive(*series, single))
    assert [(one.kind, one.place.step, one.events, one.jobs) for one in told] == [
        ("co-tenant", "kv", 3, 3),
        ("same-process", "kv", 1, 1),
    ]


def test_a_history_of_now_and_then_keeps_the_kinds_of_its_jobs() -> None:
    told = diagnoses(archive(event(1), event(3), event(6), ran=(1, 2, 3, 4, 5, 6)))
    assert [(one.kind, one.events) for one in told] == [("undetermined", 3)]


def test_a_failure_without_a_diagnosis_stays_as_it_is() -> None:
    plain = Cause("no-space-left", "t", Blame.INFRA, 1, "text", "hint")
    assert with_past(plain, archive(event(1))) == plain
