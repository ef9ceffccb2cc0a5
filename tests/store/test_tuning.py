"""Engine starts and memory held, as the store tells them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from flake_report.model.memory import GIB, Place
from flake_report.model.query import Query
from flake_report.model.record import EngineStart, MemorySample, SampleMoment
from flake_report.parse.gpulines import STARTED, engine_fact
from flake_report.store import tuning

NODE = "tests/v1/test_x.py::test_hma[a/b]"
TEST = "v1.test_x::test_hma[a/b]"


def engine(outcome: str, utilization: float | None = 0.5, **sizes: int) -> EngineStart:
    return EngineStart(None, "1", NODE, "cuda:0", utilization, outcome=outcome, **sizes)


@pytest.fixture
def stored(store, make):
    def ingest(*engines, memory=(), number=1, **fields):
        record = make.record(make.build(number), make.job(f"j{number}"), engines=engines, memory=memory, **fields)
        store.ingest([record])
        return store

    return ingest


def test_a_start_is_refused_up_or_let_in(stored):
    stored(engine("free memory", free=GIB, total=22 * GIB))
    stored(engine(STARTED), number=2)
    store = stored(engine("no cache blocks"), number=3)
    found = {(start.refused, start.up): start for start in tuning.starts(store, Query())}
    assert set(found) == {(True, False), (False, True), (False, False)}
    refused = found[True, False]
    assert (refused.test, refused.place, refused.build, refused.job) == (TEST, Place("unit", "gpu_1"), "1", "j1")
    assert (refused.free, refused.total, refused.utilization) == (GIB, 22 * GIB, 0.5)


def test_the_outcomes_are_those_that_the_log_reader_gives():
    line = (
        "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory "
        "utilization (0.47, 10.36 GiB)."
    )
    fact = engine_fact(line)
    assert fact is not None
    assert fact.outcome == tuning.REFUSED
    assert tuning.UP == STARTED


def test_a_start_without_a_setting_an_end_or_a_test_is_left_out(stored):
    outside = EngineStart(None, "1", "", "cuda:0", 0.5, outcome=STARTED)
    assert tuning.starts(stored(engine(STARTED, None), engine(""), outside), Query()) == ()


def test_the_size_of_the_card_comes_from_the_job_s_samples_where_the_engine_is_silent(stored):
    before = SampleMoment.BEFORE
    machine = MemorySample(None, "0", SampleMoment.JOB_START, total=24 * GIB)
    samples = (MemorySample(None, "cuda:0", before, total=22 * GIB, test=NODE), machine)
    (start,) = tuning.starts(stored(engine(STARTED), memory=samples), Query())
    assert start.total == 22 * GIB


def test_what_an_engine_needs_is_the_sum_of_what_it_told(stored):
    stored(engine(STARTED, 0.4, weight=2, activation=3))
    store = stored(engine(STARTED, weight=2, activation=3, non_torch=5, kv=7), number=2)
    assert {(start.base, start.kv) for start in tuning.starts(store, Query())} == {(5, None), (10, 7)}


def test_of_a_job_one_start_counts(stored):
    refused = [engine("free memory", free=free * GIB, total=22 * GIB) for free in (5, 3, 4)]
    stored(engine(STARTED), *refused)
    store = stored(engine(STARTED, 0.3), engine(STARTED, 0.5), number=2)
    assert [(start.job, start.free, start.utilization) for start in tuning.starts(store, Query())] == [
        ("j1", 3 * GIB, 0.5),
        ("", None, 0.5),
    ]


def test_starts_that_went_alike_come_together(stored, make):
    for number in (1, 2, 3):
        store = stored(engine(STARTED, kv=number * GIB), number=number)
    (start,) = tuning.starts(store, Query())
    assert (start.count, start.kv, start.created_at) == (3, GIB, make.build(3).created_at)


@pytest.mark.parametrize(("asked", "found"), [("test_hma", 1), ("v1/test_x.py::test_hma[a/b]", 1), ("other", 0)])
def test_tests_are_asked_for_as_everywhere(stored, asked, found):
    assert len(tuning.starts(stored(engine(STARTED)), Query(test=asked))) == found


def test_what_was_held_is_what_an_attempt_did_not_find(stored, make):
    def around(minute, before, after, test=NODE):
        at = make.monday + timedelta(minutes=minute)
        first = MemorySample(at, "cuda:0", SampleMoment.BEFORE, torch_reserved=before, test=test)
        return first, MemorySample(at, "cuda:0", SampleMoment.AFTER, torch_reserved=after, test=test)

    stored(memory=around(0, 4, 9), number=1)
    stored(memory=around(0, 8, 10), number=2)
    store = stored(memory=around(0, 8, 9, NODE.removeprefix("tests/")), number=3)  # pytest started in that folder
    assert tuning.held(store, Query()) == {(TEST, Place("unit", "gpu_1")): 5}
