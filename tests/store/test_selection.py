"""Which jobs a window selects: of each the last committed ingest, in whatever build and week that lies."""

from __future__ import annotations

from datetime import timedelta

import pytest

from flake_report.model.query import Query
from flake_report.store import selection
from flake_report.store.selection import Selection
from flake_report.store.store import Store

HOUR = timedelta(hours=1)


@pytest.fixture(params=[1, 10**9], ids=["jobs that are asked for are sought", "all jobs are ranked"])
def seeking(request, monkeypatch) -> None:
    monkeypatch.setattr(selection, "_FEW", request.param)


@pytest.fixture
def ran(store, make):
    """`ran(job, build)` ingests a job of a build, with one test of the job's name; a build is a week after another."""

    def ingest(job: str, number: int, **build: object) -> None:
        told = make.build(number, created_at=make.monday + timedelta(weeks=number), **build)
        store.ingest([make.record(told, make.job(job), make.attempt(job))])

    return ingest


def windows(make, number: int) -> list[Query]:
    """Queries that ask for this build alone, of those that `ran` makes."""
    at = make.monday + timedelta(weeks=number)
    return [Query(since=at, until=at + HOUR), Query(branch=f"b{number}")]


def jobs(store, query: Query) -> list[tuple[str, int]]:
    """The jobs of a query, by the tests that ran in them, and how many runs each had."""
    return [
        (history.variant.test.name, sum(streak.runs for streak in history.passes))
        for history in store.fleet(query).histories
    ]


@pytest.mark.usefixtures("seeking")
@pytest.mark.parametrize("other", [1, 3], ids=["an older build", "a newer build"])
def test_a_job_that_came_again_outside_the_window_does_not_count_by_its_old_row(other, store, ran, make) -> None:
    ran("stays", 2, branch="b2")
    ran("moves", 2, branch="b2")
    ran("moves", other, branch=f"b{other}")
    for query in windows(make, 2):
        assert jobs(store, query) == [("stays", 1)]
        assert store.health(query).jobs == 1
    for query in windows(make, other):
        assert jobs(store, query) == [("moves", 1)]


@pytest.mark.usefixtures("seeking")
def test_a_build_that_moved_takes_its_jobs_along(store, ran, make) -> None:
    ran("before", 2, branch="b2")
    store.ingest([make.record(make.build(2, branch="b2"), make.job("after"), make.attempt("after"))])
    assert jobs(store, Query(until=make.monday + timedelta(days=2))) == [("after", 1), ("before", 1)]
    assert jobs(store, windows(make, 2)[0]) == []
    assert jobs(store, Query(branch="b2")) == [("after", 1), ("before", 1)]


@pytest.mark.usefixtures("seeking")
def test_a_window_with_builds_and_no_jobs_selects_none(store, ran, make) -> None:
    ran("moves", 2, branch="b2")
    ran("moves", 3, branch="b3")
    for query in [*windows(make, 2), Query(branch="none"), Query(since=make.monday + timedelta(weeks=9))]:
        assert jobs(store, query) == []
        assert store.health(query).jobs == 0
        assert store.answer("machines", (), query).num_rows == 0


@pytest.mark.usefixtures("seeking")
def test_windows_that_follow_each_other_do_not_hide_each_other_s_jobs(store, ran, make) -> None:
    for number in (1, 2, 3):
        ran(f"j{number}", number, branch=f"b{number}")
    for number in (3, 1, 2):
        for query in windows(make, number):
            assert store.answer("machines", (), query)["job"].to_pylist() == [f"j{number}"]
    assert store.answer("machines", (), Query())["job"].to_pylist() == ["j1", "j2", "j3"]


def test_of_few_jobs_neither_other_weeks_nor_earlier_commits_are_read(store, ran, make, tmp_path) -> None:
    """Files of older commits may be damaged: nothing in them can replace a job that came later."""
    for number in (1, 2):
        build = make.build(number, created_at=make.monday + timedelta(weeks=number))
        store.ingest([make.record(build, make.job(f"{name}{number}"), make.attempt(name)) for name in "az"])
    ran("m", 3)
    for file in (tmp_path / "store").glob("kind=jobs/week=2026-W4[67]/*.parquet"):
        footer_alone(file)
    (query, _) = windows(make, 3)
    assert jobs(Store.open(str(tmp_path / "store")), query) == [("m", 1)]


def footer_alone(file) -> None:
    """Make rows unreadable, and leave what says which values lie where."""
    content = file.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    file.write_bytes(content[:4] + b"\0" * (len(content) - footer - 4) + content[-footer:])


def test_a_question_without_a_window_looks_for_no_builds(store, ran, monkeypatch) -> None:
    ran("j1", 1)
    monkeypatch.setattr(Selection, "_choose", lambda _: pytest.fail("nothing is to be chosen"))
    assert jobs(store, Query()) == [("j1", 1)]
