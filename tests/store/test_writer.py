"""What is kept for the next time is written by a thread of its own, and lies there at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from flake_report.model.query import Query
from flake_report.model.results import Outcome
from flake_report.store import Store, bad, counting, rollups
from flake_report.store.incidents import struck
from flake_report.store.writer import writer


def test_nobody_waits_for_what_is_given_and_at_the_end_all_is_done_in_order() -> None:
    may, done = threading.Event(), []
    with writer() as made:
        made.add(lambda: done.append(may.wait(30)))
        made.add(lambda: done.append("second"))
        assert done == []
        may.set()
    assert done == [True, "second"]


def work(*given: Callable[[], object], fails: bool = False) -> None:
    """Work beside which this is done."""
    with writer() as made:
        for each in given:
            made.add(each)
        if fails:
            raise KeyError


def test_of_much_that_waits_the_first_is_waited_for(monkeypatch) -> None:
    monkeypatch.setattr("flake_report.store.writer._MOST", 2)
    may, done = threading.Event(), []
    threading.Timer(0.2, may.set).start()
    with writer() as made:
        made.add(lambda: done.append(may.wait(30)))
        made.add(lambda: done.append("second"))
        assert done == []
        made.add(lambda: done.append("third"))
        assert done[0] is True
    assert done == [True, "second", "third"]


def test_what_a_thing_raises_is_raised_at_the_end_and_the_rest_is_done_nevertheless() -> None:
    done = []
    with pytest.raises(ZeroDivisionError):
        work(lambda: 1 // 0, lambda: done.append("second"))
    assert done == ["second"]


def test_an_error_of_the_other_work_is_told_and_what_was_given_is_done() -> None:
    done = []
    with pytest.raises(KeyError):
        work(lambda: done.append("first"), fails=True)
    assert done == ["first"]


@pytest.fixture
def wrote(monkeypatch) -> list[threading.Thread]:
    """Who wrote each of the files that are kept from now on; stores of any size keep all."""
    found: list[threading.Thread] = []
    real = rollups.put

    def watched(path, fill):
        found.append(threading.current_thread())
        real(path, fill)

    monkeypatch.setattr(rollups, "put", watched)
    for module in (bad, counting):
        monkeypatch.setattr(module, "KEPT_ROWS", 1)
    return found


@pytest.fixture
def filled(store, make):
    victim = make.attempt("a", Outcome.FAILED, signature="free-memory-at-start", blame="gpu-memory")
    store.ingest([make.record(make.build(1), make.job("j1"), victim, make.attempt("b"))])
    return store


def kept(store) -> list[str]:
    return sorted(path.name for path in (Path(store.address) / rollups.FOLDER).iterdir())


def test_a_store_that_writes_beside_keeps_the_same_files_by_another_thread(filled, wrote, tmp_path) -> None:
    expected = filled.fleet(Query()), struck(filled, Query())
    names = kept(filled)
    assert set(wrote) == {threading.current_thread()}
    for path in (tmp_path / "store" / rollups.FOLDER).iterdir():
        path.unlink()
    wrote.clear()
    fresh = Store.open(filled.address)
    with fresh.writing_beside():
        assert (fresh.fleet(Query()), struck(fresh, Query())) == expected
    assert kept(fresh) == names
    assert len(wrote) == len(names)
    assert threading.current_thread() not in wrote


def test_a_store_keeps_what_it_counts_after_an_error_beside_the_writing(filled, wrote) -> None:
    with pytest.raises(KeyError), filled.writing_beside():
        raise KeyError
    filled.fleet(Query())
    assert len(kept(filled)) == len(wrote) > 0
    assert set(wrote) == {threading.current_thread()}
