"""The tables that people see, by the ways that the README names."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable

from flake_report.model.results import Outcome
from flake_report.store import Store
from flake_report.store.layout import TABLES
from flake_report.store.views import DIALECTS, views

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def filled(store, make):
    """One job came twice, and one build was told of twice."""
    may = make.monday.replace(month=5)
    for at in (1, 2, 1):
        attempts = (make.attempt("a", Outcome.FAILED, seconds=2.5), make.attempt("b", seconds=1.0))
        store.ingest([make.record(make.build(at, created_at=may), make.job(f"j{at}"), *attempts)])
    return store


@pytest.mark.usefixtures("filled")
def test_the_readmes_python_runs(monkeypatch, tmp_path, capsys) -> None:
    (tmp_path / "store").rename(tmp_path / "flake-report-store")
    monkeypatch.chdir(tmp_path)
    section = README[README.index("## The store") : README.index("## Settings")]
    (code,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102 - what the README says must run
    told = capsys.readouterr().out
    assert re.search(r"v1\.test_x\s+│\s+a\s+│\s+2", told)
    assert re.search(r"v1\.test_x\s+7\.0", told)


@pytest.mark.parametrize("kind", TABLES)
def test_a_view_holds_what_the_store_itself_shows(kind, filled, tmp_path) -> None:
    """Without the extension the Delta table stands in as an Arrow table: the statements are those that are printed."""
    delta = DeltaTable(tmp_path / "store").to_pyarrow_table()
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("whole_table", delta)
    for statement in filled.views("duckdb"):
        connection.execute(statement.replace(f"delta_scan('{tmp_path / 'store'}')", "whole_table"))
    shown = filled.table(kind)
    view = connection.table(kind)
    assert view.columns == shown.columns
    assert sorted(map(repr, view.fetchall())) == sorted(map(repr, shown.fetchall()))


@pytest.mark.parametrize("engine", DIALECTS)
def test_views_of_an_address_with_quotes_name_it_whole(engine) -> None:
    statements = list(views("/data/it's `here`", engine))
    quoted = {"duckdb": "delta_scan('/data/it''s `here`')", "databricks": "delta.`/data/it's ``here```"}[engine]
    assert all(quoted in statement for statement in statements)
    assert [statement.split()[4] for statement in statements][:2] == ["builds", "jobs"]


def test_only_a_stores_own_tables_are_there(filled) -> None:
    assert isinstance(filled, Store)
    assert len(filled.views("databricks")) == len(TABLES)
