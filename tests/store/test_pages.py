"""Finished texts beside a store: the same question is made into text once, until anything changes that it rests on."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.model.report import Page
from flake_report.store import Store, pages, program
from flake_report.store.rollups import FOLDER


@pytest.fixture(autouse=True)
def small_stores_keep_pages(monkeypatch):
    monkeypatch.setattr(pages, "KEPT_ROWS", 1)


@pytest.fixture(autouse=True)
def sources(tmp_path, monkeypatch) -> Path:
    """A folder that stands for the program's own: somebody may be working on the real one."""
    folder = tmp_path / "sources"
    (folder / "rate").mkdir(parents=True)
    (folder / "rate" / "rates.py").write_text("RATE = 1\n")
    monkeypatch.setattr(program, "PACKAGE", folder)
    return folder


@pytest.fixture
def one_job(store, make) -> Store:
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    return store


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "store" / FOLDER


@pytest.fixture
def made() -> list[str]:
    """The questions whose pages were made, not found."""
    return []


@pytest.fixture
def ask(one_job, made) -> Callable[..., str]:
    """The page of a question: how many jobs there are."""

    def asked(question: str = "how many", *, found: bool = True) -> str:
        def make(opened: Store) -> Page:
            made.append(question)
            return Page(f"{question}: {opened.health(Query()).jobs}\n", found)

        told = pages.page(one_job.address, "duckdb", question, make)
        assert told.found == found
        return told.text

    return asked


def test_a_question_is_made_into_text_once(ask, made, folder) -> None:
    assert [ask(), ask(), ask()] == ["how many: 1\n"] * 3
    assert made == ["how many"]
    assert [path.suffix for path in folder.iterdir()] == [".sealed"]


def test_another_question_is_not_answered_by_the_page_of_the_first(ask, made) -> None:
    assert [ask("a"), ask("b"), ask("a")] == ["a: 1\n", "b: 1\n", "a: 1\n"]
    assert made == ["a", "b"]


def test_after_an_ingest_the_page_is_new(ask, made, one_job, make) -> None:
    ask()
    one_job.ingest([make.record(make.build(2), make.job("two"), make.attempt("a"))])
    assert [ask(), ask()] == ["how many: 2\n"] * 2
    assert len(made) == 2


def test_a_job_without_attempts_makes_the_page_new_too(ask, one_job, make) -> None:
    ask()
    one_job.ingest([make.record(make.build(2), make.job("two"))])
    assert ask() == "how many: 2\n"


def test_a_page_tells_of_the_state_that_it_is_named_for_whatever_is_added_while_it_is_made(one_job, make, ask) -> None:
    def slowly(opened: Store) -> Page:
        Store.open(one_job.address).ingest([make.record(make.build(2), make.job("two"), make.attempt("a"))])
        return Page(f"{opened.health(Query()).jobs}", found=True)

    assert pages.page(one_job.address, "duckdb", "how many", slowly).text == "1"
    assert ask() == "how many: 2\n"


def test_a_source_that_changed_makes_the_page_new(ask, made, sources) -> None:
    ask()
    source = sources / "rate" / "rates.py"
    status = source.stat()
    source.write_text("RATE = 2\n")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    ask()
    ask()
    assert len(made) == 2


def test_what_python_compiles_makes_no_page_new(ask, made, sources) -> None:
    ask()
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "rates.pyc").write_bytes(b"")
    ask()
    assert len(made) == 1


def test_another_version_of_an_installed_package_makes_the_page_new(ask, made, tmp_path, monkeypatch) -> None:
    installed = tmp_path / "site-packages" / "numpy-1.0.dist-info"
    installed.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(installed.parent), str(tmp_path / "gone.zip")])
    ask()
    installed.rename(installed.with_name("numpy-1.1.dist-info"))
    ask()
    ask()
    assert len(made) == 2


def test_a_page_that_found_nothing_is_not_kept(ask, made, folder) -> None:
    ask(found=False)
    ask(found=False)
    assert len(made) == 2
    assert not folder.exists()


@pytest.mark.parametrize("harm", ["cut", "emptied", "one bit turned", "gone"])
def test_a_damaged_page_is_made_anew_and_kept_again(harm, ask, made, folder) -> None:
    ask()
    (page,) = folder.iterdir()
    whole = page.read_bytes()
    if harm == "gone":
        page.unlink()
    else:
        turned = bytes([*whole[:-3], whole[-3] ^ 1, *whole[-2:]])
        page.write_bytes({"cut": whole[:-1], "emptied": b"", "one bit turned": turned}[harm])
    assert [ask(), ask()] == ["how many: 1\n"] * 2
    assert len(made) == 2
    assert page.read_bytes() == whole


@pytest.mark.parametrize("hindrance", ["a file lies there", "the folder is read-only"])
def test_where_no_page_can_be_written_it_is_made_each_time(hindrance, ask, made, folder) -> None:
    if hindrance == "a file lies there":
        folder.write_text("in the way")
    else:
        folder.symlink_to("/proc")  # read-only even to root
    assert [ask(), ask()] == ["how many: 1\n"] * 2
    assert len(made) == 2


def test_a_page_that_cannot_take_its_place_leaves_nothing_behind(ask, made, folder) -> None:
    ask()
    (page,) = folder.iterdir()
    page.unlink()
    page.mkdir()
    assert [ask(), ask()] == ["how many: 1\n"] * 2
    assert list(folder.iterdir()) == [page]
    assert len(made) == 3


def test_a_page_that_is_too_large_is_not_kept(ask, made, folder, monkeypatch) -> None:
    monkeypatch.setattr(pages, "LARGEST", 5_000)
    noise = random.Random(1)
    large = "".join(chr(noise.randint(33, 126)) for _ in range(10_000))
    assert ask(large) == ask(large)
    assert not folder.exists()
    ask("small")
    assert len(list(folder.iterdir())) == 1
    assert len(made) == 3


def test_a_text_that_no_terminal_could_show_comes_back_as_it_was(one_job) -> None:
    strange = "\udcff \x1b[2J \u202e ü\r\n"
    assert pages.page(one_job.address, "duckdb", "", lambda _: Page(strange, found=True)).text == strange
    assert pages.page(one_job.address, "duckdb", "", lambda _: Page("another", found=True)).text == strange


def test_of_many_pages_those_that_were_used_least_lately_go(ask, made, folder, monkeypatch) -> None:
    monkeypatch.setattr(pages, "PAGES", 2)
    for second, question in enumerate(["first", "second"]):
        there = set(folder.iterdir()) if folder.exists() else set()
        ask(question)
        (page,) = set(folder.iterdir()) - there
        os.utime(page, (second, second))
    ask("first")
    ask("third")
    made.clear()
    ask("first")
    ask("third")
    assert made == []
    ask("second")
    assert made == ["second"]
    assert len(list(folder.iterdir())) == 2


def test_vacuum_takes_pages_that_nobody_used(ask, one_job, folder) -> None:
    ask()
    one_job.vacuum(hours=24)
    assert len(list(folder.iterdir())) == 1
    assert one_job.vacuum(hours=0).files >= 1
    assert list(folder.iterdir()) == []


def test_a_small_store_keeps_none(ask, made, folder, monkeypatch) -> None:
    monkeypatch.setattr(pages, "KEPT_ROWS", 2)
    assert ask() == ask()
    assert len(made) == 2
    assert not folder.exists()


def test_a_store_in_a_bucket_keeps_none(bucket, make) -> None:
    store = Store.create_or_open(f"{bucket}/pages")
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    before = store.info().unnamed
    jobs: list[int] = []

    def count(opened: Store) -> Page:
        jobs.append(opened.health(Query()).jobs)
        return Page("", found=True)

    for _ in range(2):
        pages.page(store.address, "duckdb", "how many", count)
    assert jobs == [1, 1]
    assert store.info().unnamed == before


def test_no_store_and_no_such_engine_are_said_as_ever(tmp_path, one_job, ask) -> None:
    def never(_: Store) -> Page:
        raise AssertionError

    ask()
    with pytest.raises(FlakeReportError, match="does not exist"):
        pages.page(str(tmp_path / "none"), "duckdb", "how many", never)
    with pytest.raises(FlakeReportError, match="engine sqlite: unknown"):
        pages.page(one_job.address, "sqlite", "how many", never)
