"""What the store tells of the order of tests, and of memory around them, in jobs with an incident."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from flake_report.model.evidence import JobState
from flake_report.model.memory import GIB, Place, TestOrder, TracePoint
from flake_report.model.query import Query
from flake_report.model.record import ClassifiedAttempt, MemorySample, SampleMoment
from flake_report.model.results import Attempt, Outcome, TestId
from flake_report.rate.culprit import suspicions
from flake_report.rate.leftovers import polluter
from flake_report.rate.suspects import LEAST_INCIDENTS
from flake_report.store import Store
from flake_report.store.order import _joint, orders, traces

PLACE = Place("unit", "gpu_1", "pytest v1")


@pytest.fixture
def ran(make):
    """`ran(1, "abV")`: build 1 with tests a, b and the victim v, in this order; `S` is a skipped test."""

    def record(number, spelled, *, job=None, process=None, memory=(), **fields):
        outcomes = {"V": Outcome.FAILED, "S": Outcome.SKIPPED}
        attempts = [
            make.attempt(
                mark.lower(),
                outcomes.get(mark, Outcome.PASSED),
                blame="gpu-memory" if mark == "V" else "",
                session_key=PLACE.session,
                **(process or {}),
            )
            for mark in spelled
        ]
        return make.record(make.build(number), make.job(job or f"j{number}", **fields), *attempts, memory=tuple(memory))

    return record


def named(name: str) -> str:
    return f"v1.test_x::{name}"


def spelled(order: TestOrder) -> str:
    names = [one.removeprefix("v1.test_x::") for one in order.tests]
    return "".join(name.upper() if named(name) in order.victims else name for name in names)


def test_tests_come_in_the_order_of_their_process_for_places_with_an_incident(store, ran):
    store.ingest([ran(1, "abv"), *(ran(at, "bSaV") for at in (2, 3, 4)), ran(5, "ab", step="quiet")])
    found = orders(store, Query())
    assert [spelled(order) for order in found] == ["abv", "baV", "baV", "baV"]
    assert {order.place for order in found} == {PLACE}
    assert found[1].passed == {named("a"), named("b")}


@pytest.mark.parametrize("incidents", [LEAST_INCIDENTS - 1, LEAST_INCIDENTS])
def test_quiet_jobs_are_told_where_there_are_incidents_enough_to_name_somebody(incidents, store, ran) -> None:
    store.ingest([*(ran(at, "aV") for at in range(incidents)), *(ran(at, "av") for at in range(10, 14))])
    found = orders(store, Query())
    quiet = [order.job for order in found if not order.victims]
    assert quiet == ([] if incidents < LEAST_INCIDENTS else ["j10", "j11", "j12", "j13"])
    (place,) = suspicions(found)
    assert (place.incidents, place.jobs, place.victim) == (incidents, incidents + 4, named("v"))


@pytest.mark.parametrize(
    ("third", "quiet"),
    [
        ({"pid": 8, "session": "1"}, ["j2"]),
        ({"pid": 9, "session": "2"}, ["j2"]),
        ({"pid": 9, "session": "1", "worker": "gw1"}, ["j2"]),
        ({"pid": 7, "session": "1"}, []),
    ],
    ids=["another process", "another session", "another worker", "the same once more"],
)
def test_each_process_with_a_victim_is_an_incident(third, quiet, store, make, ran) -> None:
    attempts = [
        make.attempt(name, Outcome.FAILED, blame="gpu-memory", session_key=PLACE.session, **process)
        for name, process in (("v", {"pid": 7, "session": "1"}), ("v", {"pid": 9, "session": "1"}), ("w", third))
    ]
    store.ingest([make.record(make.build(1), make.job("j1"), *attempts), ran(2, "av")])
    found = orders(store, Query())
    assert [order.job for order in found if not order.victims] == quiet
    assert [order.job for order in found if order.victims] == ["j1"] * (3 if quiet else 2)


def test_tests_of_one_name_in_two_classes_are_two(store, make) -> None:
    ids = [TestId(classname, name) for classname in ("a", "b", "c") for name in ("t", "u", "v")]
    attempts = [
        ClassifiedAttempt(Attempt(test, Outcome.FAILED if at == 5 else Outcome.PASSED), "free-memory", "gpu-memory")
        for at, test in enumerate(ids)
    ]
    store.ingest([make.record(make.build(1), make.job("j1"), *attempts)])
    (found,) = orders(store, Query())
    assert found.tests == tuple(test.label for test in ids)
    assert (found.victims, len(found.passed)) == ({"b::v"}, 8)


def test_incidents_are_counted_by_session(store, make, ran) -> None:
    other = make.attempt("w", Outcome.FAILED, blame="gpu-memory", session_key="pytest other")
    also = make.attempt("w", session_key="pytest other")
    store.ingest([ran(at, "aV") for at in (1, 2, 3)])
    store.ingest([make.record(make.build(4), make.job("j4"), make.attempt("a", session_key=PLACE.session), other)])
    store.ingest([make.record(make.build(5), make.job("j5"), make.attempt("a", session_key=PLACE.session), also)])
    told = {(order.place.session, order.job) for order in orders(store, Query())}
    assert told == {*((PLACE.session, f"j{at}") for at in range(1, 6)), ("pytest other", "j4")}


def test_the_recorder_s_word_on_the_order_beats_the_order_of_the_report(store, make):
    names = [("v", 2, Outcome.FAILED), ("a", 1, Outcome.PASSED), ("b", 0, Outcome.PASSED)]
    attempts = [
        make.attempt(name, outcome, position=at, blame="gpu-memory" if outcome.bad else "")
        for name, at, outcome in names
    ]
    store.ingest([make.record(make.build(), make.job(), *attempts)])
    assert [spelled(order) for order in orders(store, Query())] == ["baV"]


def test_tests_of_one_place_in_the_order_stand_as_the_record_has_them(store, make, monkeypatch):
    names = [(name, 0) for name in "hgfedcba"] + [("v", 1)]
    attempts = [
        make.attempt(name, Outcome.FAILED if at else Outcome.PASSED, position=at, blame="gpu-memory" if at else "")
        for name, at in names
    ]
    store.ingest([make.record(make.build(), make.job(), *attempts)])
    told = Store.answer

    def shuffled(*question: Any) -> pa.Table:
        """An engine says rows in any order."""
        rows = told(*question)
        return rows.take(Random(7).sample(range(len(rows)), len(rows)))

    monkeypatch.setattr(Store, "answer", shuffled)
    assert [spelled(order) for order in orders(store, Query())] == ["hgfedcbaV"]


@pytest.mark.parametrize("most", [6, 12, 1 << 62])
def test_rows_are_one_where_they_are_alike_in_all_columns(most, monkeypatch):
    """Where the values of the columns multiply to more than a number holds, rows are numbered anew on the way."""
    monkeypatch.setattr("flake_report.store.order._MOST", most)
    every = [*product("ab", (1, 2, 3), "xy", (None, 0))]
    rows = [*Random(3).choices(every, k=40), *every]
    columns = [*map(str, range(4))]
    table = pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))
    joint = _joint(table, columns).tolist()
    assert len({*joint}) == len(every) == len({*zip(joint, rows, strict=True)})


def test_each_process_of_each_job_is_told(store, make):
    """Jobs have workers of the same names and pids, as containers do."""
    attempts = [
        make.attempt(name, Outcome.FAILED if name == "v" else Outcome.PASSED, worker=worker, pid=pid)
        for worker, pid, names in (("gw0", 7, "ab"), ("gw0", 8, "c"), ("gw1", 7, "vd"))
        for name in names
    ]
    blamed = [each._replace(blame="gpu-memory") if each.attempt.outcome.bad else each for each in attempts]
    store.ingest([make.record(make.build(at), make.job(f"j{at}"), *blamed) for at in (1, 2, 3)])
    assert [(order.job, spelled(order)) for order in orders(store, Query())] == [
        (f"j{at}", names) for at in (1, 2, 3) for names in ("ab", "c", "Vd")
    ]


def test_processes_of_a_job_stand_apart(store, make):
    attempts = [
        make.attempt("a", worker="gw0", pid=7),
        make.attempt("v", Outcome.FAILED, blame="gpu-memory", worker="gw1", pid=8),
        make.attempt("b", worker="gw1", pid=8),
    ]
    store.ingest([make.record(make.build(), make.job(), *attempts)])
    assert sorted(spelled(order) for order in orders(store, Query())) == ["Vb", "a"]


def test_a_test_that_ran_again_stands_where_it_first_ran(store, make):
    again = [make.attempt("v", Outcome.FAILED, blame="gpu-memory"), make.attempt("b"), make.attempt("v", number=1)]
    store.ingest([make.record(make.build(), make.job(), *again)])
    (order,) = orders(store, Query())
    assert spelled(order) == "Vb"
    assert named("v") in order.passed


def test_jobs_that_died_tell_nothing_unless_they_met_the_incident(store, ran):
    died = {"exit_status": -1, "state": JobState.FAILED}
    store.ingest([*(ran(at, "aV", **died) for at in (1, 2, 3)), ran(4, "av", **died), ran(5, "av")])
    assert [spelled(order) for order in orders(store, Query())] == ["aV", "aV", "aV", "av"]
    assert [order.job for order in orders(store, Query())] == ["j1", "j2", "j3", "j5"]


def test_of_quiet_jobs_the_newest_are_told_and_all_are_counted(store, ran):
    store.ingest([*(ran(at, "aV") for at in (1, 2, 3)), *(ran(at, "av") for at in range(4, 522))])
    found = orders(store, Query())
    assert len(found) == 503
    assert [order.job for order in found[:3]] == ["j1", "j2", "j3"]
    assert {order.job for order in found[3:]} == {f"j{at}" for at in range(22, 522)}
    assert {order.pool_jobs for order in found} == {521}
    (place,) = suspicions(found)
    assert (place.incidents, place.jobs) == (3, 521)


def test_the_query_limits_the_builds(store, ran):
    store.ingest([ran(1, "aV"), ran(2, "bV")])
    assert [spelled(order) for order in orders(store, Query(since=timedelta(hours=1)))] == ["bV"]
    assert orders(store, Query(step="other")) == ()


def sample(make, minutes, when, name, gib, **fields):
    given = {"device": "cuda:0", "total": 22 * GIB, "free": None if gib is None else (22 - gib) * GIB}
    at = make.monday + timedelta(minutes=minutes)
    return MemorySample(at, when=when, test=f"v1/test_x.py::{name}", **{**given, **fields})


def test_samples_come_by_device_and_time_and_name_who_left_the_memory(store, ran, make):
    before, after = SampleMoment.BEFORE, SampleMoment.AFTER
    memory = [
        sample(make, 4, before, "v", 12),
        sample(make, 1, after, "a", 12),
        sample(make, 0, before, "a", 1),
        sample(make, 1, before, "b", 12),
        sample(make, 2, after, "b", None, used=12 * GIB),
        sample(make, 0, before, "a", 0, device="cuda:1"),
        sample(make, 0, SampleMoment.JOB_START, "a", 5),
        sample(make, 3, after, "c", None),
    ]
    store.ingest([ran(1, "abV", memory=memory), ran(2, "ab", memory=memory)])
    first, second = traces(store, Query())
    assert (first.job, first.device, second.device) == ("j1", "cuda:0", "cuda:1")
    assert first.points == (
        TracePoint(named("a"), before=True, used=GIB),
        TracePoint(named("a"), before=False, used=12 * GIB),
        TracePoint(named("b"), before=True, used=12 * GIB),
        TracePoint(named("b"), before=False, used=12 * GIB),
        TracePoint(named("v"), before=True, used=12 * GIB),
    )
    left = polluter([first, second], orders(store, Query())[0].victims)
    assert left is not None
    assert (left.tests, left.size) == ((named("a"),), 11 * GIB)
