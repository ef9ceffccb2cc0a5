"""A store that answers in a thread of its own: in order, to the end, or until whoever asked has gone."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

import duckdb
import pytest

from flake_report.model.query import Query
from flake_report.store import Store, counting
from flake_report.store.beside import beside

LONG = "SELECT sum(range * range) AS answer FROM range(20000000000)"
"""Half a minute at least, for who waits for it."""


@pytest.fixture
def filled(store, make) -> Store:
    store.ingest([make.record(make.build(1), make.job("j1"), make.attempt("a"))])
    return store


def test_questions_are_answered_one_after_the_other_in_one_thread(filled) -> None:
    def told(name: str) -> tuple[str, threading.Thread]:
        return filled.answer(name, (), Query())["job"][0].as_py(), threading.current_thread()

    with beside(filled) as asking:
        first, second = asking.ask(told, "machines"), asking.ask(told, "machines")
    assert first.result() == second.result()
    assert first.result()[0] == "j1"
    assert first.result()[1] is not threading.current_thread()


def leave(store: Store, asked: list[Future]) -> None:
    """Ask for what takes long, then for more, and go once the store is at it."""
    with beside(store) as asking:
        asked += [
            asking.ask(store.answer, name, kinds, Query())
            for name, kinds in (("machines", ()), ("spent", ("matches",)))
        ]
        while not asked[0].running():
            time.sleep(0.01)
        raise KeyboardInterrupt


def test_who_is_interrupted_waits_for_no_answer(filled, monkeypatch) -> None:
    filled.fleet(Query())
    real, asked = counting.statement, []
    monkeypatch.setattr(
        counting, "statement", lambda name, **holes: LONG if name == "machines" else real(name, **holes)
    )
    with pytest.raises(KeyboardInterrupt):
        leave(filled, asked)
    assert isinstance(asked[0].exception(), duckdb.InterruptException)
    assert asked[1].cancelled()
    monkeypatch.undo()
    assert filled.answer("machines", (), Query())["job"].to_pylist() == ["j1"]


def test_an_answer_that_fails_is_told_to_who_waits_for_it(filled) -> None:
    with pytest.raises(FileNotFoundError), beside(filled) as asking:
        asking.ask(filled.answer, "no such statement", (), Query()).result()
