"""The counting SQL and the pure reference see the same runs in any history."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake_report.model.evidence import JobState, RetryType
from flake_report.model.machines import JobPlaces
from flake_report.model.query import Query
from flake_report.model.record import JobRecord
from flake_report.model.results import Outcome
from flake_report.rate import incidents, jobplaces, runs
from flake_report.store import Store, selection
from flake_report.store import incidents as stored_incidents
from flake_report.store import machines as stored_machines
from flake_report.store.duck import Duck

SUNDAY_NIGHT = datetime(2026, 11, 8, 23, tzinfo=UTC)
"""An hour later a new week begins."""

BLAMES = [("", ""), ("", ""), ("assertion", "test"), ("free-memory", "gpu-memory"), ("lost-agent", "agent")]
MOSTLY_FAILED = [*Outcome, *[Outcome.FAILED] * 5, Outcome.PASSED]
FEW_TESTS = [*["test_a"] * 5, "test_b[x-1]", "test_ü%_", ""]
"""Few and failing, so that runs have several attempts and much to tell; a case without a name is no test."""


def attempts(make):
    @st.composite
    def draw_attempt(draw):
        outcome = draw(st.sampled_from(MOSTLY_FAILED))
        signature, blame = draw(st.sampled_from(BLAMES)) if outcome.bad else ("", "")
        name = draw(st.sampled_from(FEW_TESTS))
        return make.attempt(
            name,
            outcome,
            file=f"tests/{name}.py" if "b" in name else "",
            signature=signature,
            blame=blame,
            number=draw(st.integers(0, 2)),
            message=draw(st.sampled_from(["", "", "boom"])) if outcome.bad else "",
            fingerprint=draw(st.sampled_from(["", "f1", "f2"])) if outcome.bad else "",
            session=draw(st.sampled_from(["", "2", "10"])),
            session_key=draw(st.sampled_from(["", "", "", "pytest v1"])),
            known=draw(st.booleans()),
        )

    return draw_attempt()


def histories(make):
    @st.composite
    def draw_history(draw) -> list[list[JobRecord]]:
        """A few builds with a few jobs each, in commits; some jobs come again, elsewhere or with other results."""
        records: list[JobRecord] = []
        for key in range(draw(st.integers(1, 4))):
            build = make.build(
                draw(st.one_of(st.none(), st.integers(1, 9))),
                key=f"b{key}",
                pipeline=draw(st.sampled_from(["ci", "nightly"])),
                branch=draw(st.sampled_from(["main", "main", "topic"])),
                created_at=SUNDAY_NIGHT + timedelta(hours=draw(st.integers(-200, 200))),
            )
            for name in draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=4)):
                job = make.job(
                    f"{draw(st.sampled_from([key, key, 0]))}{name}",
                    step=draw(st.sampled_from(["unit", "unit", "unit", "kernels"])),
                    queue=draw(st.sampled_from(["L4", "L4", "L4", "H100"])),
                    agent=draw(st.sampled_from(["agent-1", "agent-2", ""])),
                    host=draw(st.sampled_from(["", "", "host-1"])),
                    attempt=draw(st.integers(0, 1)),
                    retry_type=draw(st.sampled_from([None, *RetryType])),
                    state=draw(st.sampled_from([*[JobState.FAILED] * 8, *JobState])),
                    exit_status=draw(st.sampled_from([None, 0, 1, 1, 1, -1])),
                    signal_reason=draw(st.sampled_from([*[""] * 6, "agent_stop"])),
                    started_at=draw(st.sampled_from([None, SUNDAY_NIGHT, SUNDAY_NIGHT + timedelta(hours=1)])),
                )
                records.append(make.record(build, job, *draw(st.lists(attempts(make), max_size=8))))
        cuts = draw(st.lists(st.integers(0, len(records)), max_size=3).map(sorted))
        bounds = [0, *cuts, len(records)]
        return [in_one_build(records[low:high]) for low, high in pairwise(bounds)]

    return draw_history()


def in_one_build(commit: list[JobRecord]) -> list[JobRecord]:
    """These records without those of a job that one ingest would take for those of another build: none is stored."""
    last = {record.job.id: record.build.key for record in commit}
    return [record for record in commit if record.build.key == last[record.job.id]]


QUERIES = st.builds(
    Query,
    since=st.one_of(st.none(), st.just(SUNDAY_NIGHT), st.integers(0, 300).map(lambda hours: timedelta(hours=hours))),
    until=st.one_of(st.none(), st.just(SUNDAY_NIGHT + timedelta(hours=50))),
    branch=st.sampled_from([None, None, "main", "m*"]),
    step=st.sampled_from([None, None, "kern"]),
    queue=st.sampled_from([None, None, "L?"]),
    test=st.sampled_from([None, None, "test_b[x", "v1.test_x::test_?", "tests/v1/test_x.py::test_ü%_"]),
)

FEW = st.sampled_from([1, 3])
"""Of so many rows of jobs one is few: 1 seeks the jobs that are asked for in every window, however small the store."""


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), query=QUERIES, at_once=st.sampled_from([1, Duck.rows_at_once]), few=FEW)
def test_every_history_counts_the_same_in_sql_and_in_the_reference(data, query, at_once, few, make) -> None:
    """Also week by week, where later weeks meet tests that those before did not know."""
    commits = data.draw(histories(make))
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create_or_open(str(Path(folder) / "store"))
        for commit in commits:
            store.ingest(commit)
        with mock.patch.object(Duck, "rows_at_once", at_once), mock.patch.object(selection, "_FEW", few):
            counted = store.fleet(query)
    assert counted == runs.fleet([record for commit in commits for record in commit], query)


@pytest.mark.parametrize("at_once", [1, Duck.rows_at_once])
def test_tests_that_come_and_go_from_week_to_week_are_counted(at_once, store, make, monkeypatch) -> None:
    monkeypatch.setattr(Duck, "rows_at_once", at_once)
    weeks = [("test_a", "test_b", ""), ("test_c", "", "test_a", "test_c"), ("test_b",), ("test_d", "test_c")]
    records = [
        make.record(
            make.build(at + 1, created_at=SUNDAY_NIGHT + timedelta(weeks=at)),
            make.job(f"j{at}"),
            *(make.attempt(name, (Outcome.FAILED, Outcome.PASSED)[at % 2], file=f"{name}.py") for name in names),
        )
        for at, names in enumerate(weeks)
    ]
    store.ingest(records)
    counted = store.fleet(Query())
    assert [history.variant.test.name for history in counted.histories] == ["test_a", "test_b", "test_c", "test_d"]
    assert counted == runs.fleet(records, Query())


def rows(places: JobPlaces) -> list[tuple[object, ...]]:
    """One row a job: codes may differ, texts may not."""
    texts = (
        [column.names[code] for code in column.codes]
        for column in (places.step, places.queue, places.machine, places.command)
    )
    marks = (places.retry, places.own, places.victim, places.lost)
    return list(zip(places.order, *texts, *marks, strict=True))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), query=QUERIES, few=FEW)
def test_victims_and_machines_are_the_same_in_sql_and_in_the_reference(data, query, few, make) -> None:
    commits = data.draw(histories(make))
    records = [record for commit in commits for record in commit]
    ids = st.sets(st.sampled_from(sorted({record.job.id for record in records})))
    own, victims = data.draw(ids), data.draw(ids)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create_or_open(str(Path(folder) / "store"))
        for commit in commits:
            store.ingest(commit)
        with mock.patch.object(selection, "_FEW", few):
            struck = stored_incidents.struck(store, query)
            ran = stored_machines.jobs_ran(store, query)
            elsewhere = stored_machines.elsewhere(store, query)
    places = stored_machines.job_places(ran, own=own, victims=victims)
    assert struck == incidents.struck(records, query)
    assert rows(places) == rows(jobplaces.job_places(records, query, own, victims))
    assert elsewhere == jobplaces.elsewhere(records, query)
