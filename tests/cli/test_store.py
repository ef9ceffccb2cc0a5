"""`flake-report store`, on the store of a small folder of results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def store(home: Path, results: Path, run: Callable) -> Path:
    """Twenty builds, ingested twice: one superseded row for each that counts."""
    for _ in range(2):
        assert run("ingest", results, "--store", "store").status == 0
    return home / "store"


@pytest.fixture
def told(run: Callable, store: Path) -> Callable[..., dict]:
    def tell(*arguments: str) -> dict:
        ran = run("store", *arguments, "--store", store, "--format", "json")
        assert (ran.status, ran.err) == (0, "")
        return json.loads(ran.out)

    return tell


def test_info_counts_rows_and_those_that_no_longer_count(told: Callable) -> None:
    info = told("info")
    assert info["tables"]["jobs"]["rows"] == 40
    assert info["tables"]["jobs"]["superseded"] == 20
    assert info["tables"]["attempts"]["superseded"] == 40
    assert info["weeks"] == ["2026-W44", "2026-W45", "2026-W46", "2026-W47"]
    assert [reader["jobs"] for reader in info["readers"]] == [40]


def test_info_speaks_to_people(run: Callable, store: Path) -> None:
    said = run("store", "info", "--store", store).out
    assert " ".join(said.split()).startswith(  # where the folder's name is long, its line is folded
        f"{store}: layout 2, commit 2 · 2026-W44 to 2026-W47, 4 weeks rows superseded files size"
    )
    assert ["attempts", "80", "40", "8"] in [line.split()[:4] for line in said.splitlines()]


def test_compact_then_vacuum(told: Callable, run: Callable, store: Path) -> None:
    before = run("show", "--store", store).out
    done = told("compact")
    assert (done["files_before"], done["files_after"], done["rows_dropped"]) == (24, 12, 80)
    assert told("info")["tables"]["attempts"]["superseded"] == 0
    assert told("info")["unnamed"]["files"] == 24
    assert told("vacuum")["files"] == 0, "a reader may still use what was merged a moment ago"
    assert run("show", "--store", store).out == before


def test_compact_and_vacuum_speak_to_people(run: Callable, store: Path) -> None:
    assert run("store", "compact", "--store", store).out == "24 files merged into 12, 80 superseded rows dropped\n"
    assert run("store", "vacuum", "--store", store).out == "0 files taken away, 0.0 MB\n"


def test_verify_lists_every_promise(run: Callable, told: Callable, store: Path) -> None:
    ran = run("store", "verify", "--store", store)
    assert ran.status == 0
    assert len(ran.out.splitlines()) == len(told("verify")["checks"]) > 5
    assert all(line.startswith("✓ ") for line in ran.out.splitlines())


def test_verify_fails_where_a_file_is_gone(run: Callable, store: Path) -> None:
    next(store.glob("kind=jobs/*/*.parquet")).unlink()
    ran = run("store", "verify", "--store", store)
    assert ran.status == 1
    assert ran.out.startswith("✗ every file of the log is there, with its bytes and rows\n    kind=jobs/")
    assert ran.out.endswith(".parquet: is missing\n")


def test_upgrade_of_a_store_of_today_does_nothing(run: Callable, told: Callable, store: Path) -> None:
    assert run("store", "upgrade", "--store", store).out == "nothing to do: the store is one of today's\n"
    assert told("upgrade")["steps"] == []


def test_the_setting_names_the_store(run: Callable, store: Path, home: Path) -> None:
    (home / "flake-report.toml").write_text(f'[store]\npath = "{store}"\n')
    assert run("store", "info").out.startswith(f"{store}: layout 2")


@pytest.mark.parametrize("name", ["info", "verify", "compact", "vacuum", "upgrade"])
def test_without_a_store_one_sentence_says_what_to_do(name: str, run: Callable, home: Path) -> None:
    ran = run("store", name, "--store", "none")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert f"store {home / 'none'}: does not exist; `flake-report ingest SOURCE" in ran.err


@pytest.mark.parametrize("engine", ["databricks", "duckdb"])
def test_views_are_printed_as_statements(engine: str, run: Callable, store: Path) -> None:
    lines = run("store", "views", "--for", engine, "--store", store).out.splitlines()
    assert [line.split()[4] for line in lines] == ["builds", "jobs", "attempts", "matches", "memory", "engines"]
    assert all(line.startswith("CREATE OR REPLACE VIEW ") and line.endswith(";") for line in lines)
    assert all(str(store) in line for line in lines)
