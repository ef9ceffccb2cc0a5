"""The attempts that failed are read once a week of files, and no superseded one is told."""

from __future__ import annotations

from datetime import timedelta

import pytest

from flake_report.model.query import Query
from flake_report.model.results import Outcome
from flake_report.store import Store, bad, counting
from flake_report.store.cost import job_failures
from flake_report.store.incidents import struck
from flake_report.store.order import orders
from flake_report.store.selection import Selection

VICTIM = {"signature": "free-memory-at-start", "blame": "gpu-memory"}


@pytest.fixture(autouse=True)
def every_week_is_kept(monkeypatch) -> None:
    monkeypatch.setattr(bad, "KEPT_ROWS", 1)
    monkeypatch.setattr(counting, "KEPT_ROWS", 10**9)  # no whole answer is


@pytest.fixture
def read(monkeypatch) -> list[list[str]]:
    """The weeks of attempts that are read from now on, in the order in which they are."""
    weeks: list[list[str]] = []
    real = Selection.show

    def watched(self, view, kind, chosen=None):
        if kind == "attempts":
            weeks.append(chosen)
        real(self, view, kind, chosen)

    monkeypatch.setattr(Selection, "show", watched)
    return weeks


@pytest.fixture
def three_weeks(store, make):
    """A victim in each of three weeks, builds 1, 8 and 15, those of even number on a branch of their own."""
    for at in (1, 8, 15):
        build = make.build(at, branch="topic" if at == 8 else "main")
        store.ingest([make.record(build, make.job(f"j{at}"), make.attempt("v", Outcome.FAILED, **VICTIM))])
    return store


def fresh(store: Store) -> Store:
    """The same store, as another process opens it."""
    return Store.open(store.address)


ALL = ["2026-W45", "2026-W46", "2026-W47"]


def test_one_table_of_them_serves_all_that_ask_of_the_same_jobs(three_weeks, read, tmp_path) -> None:
    assert [one.job for one in struck(three_weeks, Query())] == ["j1", "j8", "j15"]
    assert read == [[week] for week in ALL] + [ALL]
    for path in (tmp_path / "store" / "_rollups").iterdir():
        path.unlink()
    read.clear()
    assert [one.job for one in job_failures(three_weeks, Query())] == ["j1", "j8", "j15"]
    assert len(orders(three_weeks, Query())) == 3
    assert read == [ALL, ALL]
    assert [one.job for one in struck(three_weeks, Query(branch="main"))] == ["j1", "j15"]
    assert [one.job for one in job_failures(three_weeks, Query(branch="topic"))] == ["j8"]


@pytest.mark.parametrize(
    ("query", "jobs"),
    [
        (Query(), ["j1", "j8", "j15"]),
        (Query(since=timedelta(days=8)), ["j8", "j15"]),
        (Query(branch="main"), ["j1", "j15"]),
        (Query(queue="other"), []),
    ],
    ids=["all", "a window", "a branch", "another queue"],
)
def test_what_one_question_kept_serves_every_other(query, jobs, three_weeks, read) -> None:
    struck(three_weeks, Query())
    read.clear()
    assert [one.job for one in struck(fresh(three_weeks), query)] == jobs
    assert [week for week in read if len(week) == 1] == [], "a week is read alone where it is to be kept"


def test_only_the_week_of_a_new_job_is_read_again(three_weeks, read, make) -> None:
    struck(three_weeks, Query())
    read.clear()
    three_weeks.ingest([make.record(make.build(9), make.job("new"), make.attempt("v", Outcome.FAILED, **VICTIM))])
    assert [one.job for one in struck(three_weeks, Query())] == ["j1", "j8", "new", "j15"]
    assert read == [["2026-W46"], ALL]


@pytest.mark.parametrize("build", [1, 15], ids=["in the same week", "in another week"])
def test_what_failed_in_a_superseded_ingest_is_not_told(build, three_weeks, make) -> None:
    struck(three_weeks, Query())
    three_weeks.ingest([make.record(make.build(build), make.job("j1"), make.attempt("v"))])
    for opened in (three_weeks, fresh(three_weeks)):
        assert [one.job for one in struck(opened, Query())] == ["j8", "j15"]
        assert [one.job for one in job_failures(opened, Query())] == ["j8", "j15"]
        assert [order.job for order in orders(opened, Query())] == ["j8", "j15"]


def test_a_kept_week_that_is_damaged_is_read_again(three_weeks, read, tmp_path) -> None:
    expected = struck(three_weeks, Query())
    kept = sorted((tmp_path / "store" / "_rollups").iterdir())
    assert [path.name[:4] for path in kept] == ["bad-"] * 3
    kept[0].write_bytes(kept[0].read_bytes()[:20])
    kept[1].unlink()
    read.clear()
    assert struck(fresh(three_weeks), Query()) == expected
    assert len([week for week in read if len(week) == 1]) == 2


def test_small_weeks_are_read_together_and_not_kept(three_weeks, read, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(bad, "KEPT_ROWS", 2)
    assert [one.job for one in struck(three_weeks, Query())] == ["j1", "j8", "j15"]
    assert read == [ALL, ALL]
    assert not (tmp_path / "store" / "_rollups").exists()
