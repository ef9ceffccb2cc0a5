"""A question on some tests is answered by where they run, counted or taken from what was kept."""

from __future__ import annotations

import pytest

from flake_report import flow
from flake_report.model.evidence import JobState
from flake_report.model.failure import Blame, Cause
from flake_report.model.machines import PlaceKind
from flake_report.model.query import Query
from flake_report.model.record import EngineStart
from flake_report.model.results import Outcome
from flake_report.store import counting
from flake_report.store.asked import pools_of
from flake_report.store.cost import job_failures, spent_jobs
from flake_report.store.counting import Counting
from flake_report.store.incidents import struck
from flake_report.store.machines import job_places, jobs_ran
from flake_report.store.memory import memory_events
from flake_report.store.order import orders, traces
from flake_report.store.tuning import REFUSED

PLACES = [("unit", "L4"), ("unit", "H100"), ("kernels", "L4"), ("kernels", "H100")]
ASKED = frozenset({PLACES[0], PLACES[3]})


def placed(store, query, pools=None) -> tuple[tuple[str, str, int], ...]:
    """Step, queue and build of each job of which it is asked where it ran."""
    jobs = job_places(jobs_ran(store, query, pools))
    step, queue = ([column.names[code] for code in column.codes] for column in (jobs.step, jobs.queue))
    return tuple(zip(step, queue, jobs.order.tolist(), strict=True))


@pytest.fixture
def places(store, make):
    """A store with a job a place and build, each with a victim."""
    for number in (1, 2):
        for step, queue in PLACES:
            job = make.job(f"{step}-{queue}-{number}", step=step, queue=queue, exit_status=1, state=JobState.FAILED)
            victim = make.attempt(f"test_{step}", Outcome.FAILED, signature="free-memory-at-start", blame="gpu-memory")
            store.ingest([make.record(make.build(number), job, make.attempt("test_all"), victim)])
    return store


@pytest.fixture(params=["counted", "kept"])
def four_places(request, places, monkeypatch):
    """The same; `kept`: every answer was asked for before."""
    monkeypatch.setattr(counting, "KEPT_ROWS", 1)
    if request.param == "kept":
        for ask in (placed, spent_jobs, job_failures, struck, orders):
            assert len(ask(places, Query())) == 8
        places.fleet(Query())
        monkeypatch.setattr(Counting, "select", lambda *_: pytest.fail("it was counted before"))
    return places


@pytest.mark.parametrize("ask", [spent_jobs, job_failures, struck, orders], ids=lambda ask: ask.__name__)
def test_rows_of_other_places_are_left_out(four_places, ask) -> None:
    rows = ask(four_places, Query(test="test_unit"), ASKED)
    assert len(rows) == 4
    assert {row.job for row in rows} == {"unit-L4-1", "unit-L4-2", "kernels-H100-1", "kernels-H100-2"}
    assert ask(four_places, Query(), frozenset()) == ()


def test_places_of_other_jobs_are_left_out(four_places) -> None:
    kept = {(*place, order) for place in ASKED for order in (0, 1)}
    assert sorted(placed(four_places, Query(test="test_unit"), ASKED)) == sorted(kept)
    assert placed(four_places, Query(), frozenset()) == ()


def test_where_there_are_no_samples_there_are_none_of_some_places(store, make) -> None:
    store.ingest([make.record(make.build(1), make.job(), make.attempt("test_a"))])
    assert traces(store, Query(), ASKED) == ()


def test_a_place_where_an_engine_began_and_no_attempt_was_left_is_told_of(places, make) -> None:
    engine = EngineStart(None, "1", "v1.test_x::test_unit", "cuda:0", 0.5, 11 << 30, 4 << 30, 22 << 30, outcome=REFUSED)
    died = make.job("died", step="nightly", queue="L4", exit_status=-1, state=JobState.FAILED)
    places.ingest([make.record(make.build(3), died, engines=(engine,))])
    report = flow.show(places.address, Query(test="test_unit"), budget=0.005)
    assert [tuning.place.step for tuning in report.memory.tunings] == ["nightly"]
    (queue,) = [rate for rate in report.agents if (rate.kind, rate.name) == (PlaceKind.QUEUE, "L4")]
    assert (queue.trouble.n, queue.lost) == (3, 1)


def test_events_and_builds_of_other_places_are_left_out(store, make) -> None:
    cause = Cause("free-memory-at-start", "title", Blame.GPU_MEMORY, 1, "text", "hint")
    jobs = [make.job(f"{step}{queue}", step=step, queue=queue) for step, queue in PLACES]
    store.ingest([make.record(make.build(1), job, causes=(cause,)) for job in jobs])
    found = memory_events(store, Query(), ASKED)
    assert {where[:2] for where in found.ran} == ASKED
    assert {(event.step, event.queue) for event in found.events} == ASKED


def test_a_fleet_of_some_tests_has_the_pools_in_which_they_ran(four_places) -> None:
    fleet = four_places.fleet(Query(test="test_unit"))
    assert [(pool.step, pool.queue, pool.orders) for pool in fleet.pools] == [
        ("unit", "H100", (0, 1)),
        ("unit", "L4", (0, 1)),
    ]
    assert [history.variant.queue for history in fleet.histories] == ["H100", "L4"]
    assert four_places.fleet(Query(test="no such test")).pools == ()


def test_a_question_looks_where_its_tests_ran_and_everywhere_without_one(four_places) -> None:
    assert pools_of(four_places.counts(Query(test="test_unit"))) == {("unit", "L4"), ("unit", "H100")}
    assert pools_of(four_places.counts(Query(test="no such test"))) == frozenset()
    assert pools_of(four_places.counts(Query())) == set(PLACES)


def test_machines_are_judged_by_the_jobs_that_run_what_is_asked_for(places) -> None:
    report = flow.show(places.address, Query(test="test_unit"), budget=0.005)
    (machine,) = [rate for rate in report.agents if rate.kind is PlaceKind.MACHINE]
    assert (machine.trouble.hits, machine.trouble.n) == (4, 4)
    assert {(one.place.step, one.place.queue) for one in report.memory.suspicions} <= {PLACES[0], PLACES[1]}
