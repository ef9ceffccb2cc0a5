"""A report is made of what the store answers meanwhile, and a brief one lacks only what a terminal does not show."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from rich.console import Console

from flake_report import demo, reporting
from flake_report.cli import main
from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.model.rate import Level
from flake_report.model.report import FlakeReport
from flake_report.rate.owners import Ownership
from flake_report.report import table
from flake_report.store import Store, order

BUDGET = 0.005
OWNED = Ownership({"v1": "@core"})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's history; for reading only."""
    folder = tmp_path_factory.mktemp("reporting")
    demo.write_history(folder / "archive")
    assert main(["ingest", str(folder / "archive"), "--store", str(folder / "store")]) == 0
    return folder / "store"


@pytest.fixture
def reported(store: Path) -> Callable[..., FlakeReport]:
    """The report that a page is written from; the demo is too small for pages to be kept."""

    def ask(query: Query, *, brief: bool, ownership: Ownership = OWNED) -> FlakeReport:
        found: list[FlakeReport] = []

        def write(report: FlakeReport) -> str:
            found.append(report)
            return ""

        reporting.show_page(
            str(store), query, budget=BUDGET, queues={}, ownership=ownership, engine="duckdb", form="", write=write,
            brief=brief,
        )  # fmt: skip
        return found[0]

    return ask


def printed(report: FlakeReport) -> str:
    console = Console(width=120)
    with console.capture() as captured:
        for part in table.to_text(report):
            console.print(part)
    return captured.get()


QUERIES = {
    "all": Query(),
    "a branch": Query(branch="main"),
    "one week": Query(since=timedelta(days=5)),
    "a test": Query(test="test_read_finishes_before_deadline"),
    "nothing": Query(branch="none"),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
@pytest.mark.parametrize("ownership", [OWNED, Ownership({})], ids=["with owners", "without"])
def test_a_terminal_shows_the_same_of_a_brief_report(query, ownership, reported) -> None:
    brief, whole = (reported(query, brief=brief, ownership=ownership) for brief in (True, False))
    assert printed(brief) == printed(whole)
    assert brief.tests == whole.tests


def test_a_brief_report_lacks_what_a_terminal_does_not_show_unasked(reported) -> None:
    brief, whole = (reported(Query(), brief=brief) for brief in (True, False))
    assert (brief.weeks, brief.counts.variants, brief.ways) == ((), (), {})
    assert {each.level for each in brief.rollups} == {Level.QUEUE, Level.STEP, Level.OWNER}
    assert whole.weeks
    assert whole.counts.variants
    assert whole.ways
    assert {each.level for each in whole.rollups} == set(Level)


def test_the_report_of_a_page_is_that_of_show(reported, store) -> None:
    shown = reporting.show(str(store), Query(), budget=BUDGET, queues={}, ownership=OWNED)
    assert reported(Query(), brief=False) == shown
    assert {test.owner for test in shown.tests if test.variant.test.classname.startswith("v1")} == {"@core"}


def test_the_store_answers_in_one_thread_that_is_not_the_one_that_rates(store, monkeypatch) -> None:
    asked: list[threading.Thread] = []
    real = Store._counting  # noqa: SLF001  # every question goes through it

    def watched(self):
        asked.append(threading.current_thread())
        return real(self)

    monkeypatch.setattr(Store, "_counting", watched)
    reporting.show(str(store), Query(), budget=BUDGET)
    assert len(set(asked)) == 1
    assert threading.current_thread() not in asked


def test_a_damaged_store_is_one_sentence_whatever_was_asked_beside_it(store, tmp_path) -> None:
    harmed = Path(shutil.copytree(store, tmp_path / "store"))
    for file in harmed.glob("kind=memory/*/*.parquet"):
        file.write_bytes(b"PAR1 and no more")
    with pytest.raises(FlakeReportError, match=r"^store \S+: cannot be read \(.*\.parquet"):
        reporting.show(str(harmed), Query(), budget=BUDGET)


def test_a_bug_in_what_the_store_answers_is_not_swallowed(store, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(order, "_labels", broken)
    with pytest.raises(ZeroDivisionError):
        reporting.show(str(store), Query(), budget=BUDGET)
