"""A store of layout 1, as the first release wrote it, becomes one of today's."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema, write_deltalake

from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.store import Store, upgrade

KEYS = {"org": pa.string(), "pipeline": pa.string(), "build": pa.string(), "ingest": pa.int64()}
TEXTS = dict.fromkeys
LAYOUT_1 = {
    "builds": {
        **KEYS,
        "number": pa.int64(),
        **TEXTS(("commit", "branch", "source", "state"), pa.string()),
        "created_at": pa.timestamp("us", "UTC"),
        "commit_version": pa.int64(),
    },
    "jobs": {
        **KEYS,
        **TEXTS(("job", "id", "step", "queue", "agent", "state", "signal_reason", "mode"), pa.string()),
        **TEXTS(("exit_status", "attempt", "warnings", "commit_version"), pa.int64()),
        "retry_type": pa.string(),
        "started_at": pa.timestamp("us", "UTC"),
    },
    "attempts": {
        **KEYS,
        **TEXTS(("job", "classname", "name", "apart", "file", "session", "session_key"), pa.string()),
        **TEXTS(("ordinal", "attempt"), pa.int64()),
        "attempts_known": pa.bool_(),
        **TEXTS(("outcome", "message", "fingerprint", "signature", "blame", "source"), pa.string()),
    },
}
"""What counting needs of that release's columns, with its types; it had no others that it could not do without."""

BUILD = {"org": "acme", "pipeline": "ci", "build": "7", "ingest": 41}
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
ROWS = {
    "builds": BUILD
    | {"number": 7, "commit": "c7", "branch": "main", "source": "webhook", "state": "failed", "created_at": NOON}
    | {"commit_version": 2},
    "jobs": BUILD
    | TEXTS(("job", "id"), "j7")
    | {"step": "unit", "queue": "gpu_1", "agent": "a", "state": "failed", "signal_reason": "", "mode": "all"}
    | {"exit_status": 1, "attempt": 0, "warnings": 0, "commit_version": 2, "retry_type": None, "started_at": None},
    "attempts": BUILD
    | {"job": "j7", "classname": "v1.test_x", "name": "a", "ordinal": 0, "attempt": 0, "attempts_known": True}
    | TEXTS(("apart", "file", "session", "session_key", "message", "fingerprint", "signature", "blame"), "")
    | {"outcome": "failed", "source": "report"},
}


@pytest.fixture
def old(tmp_path: Path) -> str:
    """Made without the product: by Delta's own writer, with the columns and properties of that layout."""
    path = str(tmp_path / "store")
    union = dict.fromkeys(("kind", "week"), pa.string())
    for columns in LAYOUT_1.values():
        union |= columns
    DeltaTable.create(
        path,
        Schema.from_arrow(pa.schema(union.items())),
        partition_by=["kind", "week"],
        configuration={"delta.checkpointInterval": "10", "flake-report.layout": "1"},
        raise_if_key_not_exists=False,
    )
    for kind in ("attempts", "builds", "jobs"):
        row = {**ROWS[kind], "kind": kind, "week": "2026-W48"}
        schema = pa.schema({**LAYOUT_1[kind], "kind": pa.string(), "week": pa.string()}.items())
        write_deltalake(path, pa.Table.from_pylist([row], schema), mode="append", schema_mode="merge")
    return path


@pytest.mark.parametrize("action", [Store.open, Store.create_or_open], ids=["open", "create or open"])
def test_an_older_store_is_refused_with_the_command_that_helps(action, old) -> None:
    with pytest.raises(FlakeReportError) as caught:
        action(old)
    assert str(caught.value) == (
        f"store {old}: has layout 1, this flake-report needs 2;"
        f" `flake-report store upgrade --store {old}` brings it there and keeps its rows"
    )


def test_an_upgraded_store_has_its_rows_and_takes_new_ones(old, make) -> None:
    assert Store.upgrade(old) == ("layout 1 to 2: declare all columns, and keep the names of merged files for a day",)
    store = Store.open(old)
    (history,) = store.histories(Query())
    assert [run.verdict.value for run in history.runs] == ["failed"]
    assert [check for check in store.verify() if check.broken] == []
    build = make.build(8, created_at=NOON)
    store.ingest([make.record(build, make.job("j8", queue="gpu_1"), make.attempt("a"))])
    (history,) = store.histories(Query())
    assert [streak.runs for streak in history.passes] == [1]
    assert store.table("jobs").order("job").project("job, label, host").fetchall() == [
        ("j7", None, None),
        ("j8", ":pytest: Unit", "host-1"),
    ]
    assert store.compact().files_before > 0
    assert len(store.histories(Query())) == 1


def test_the_table_itself_is_that_of_a_new_store(old, tmp_path) -> None:
    Store.upgrade(old)
    Store.create_or_open(str(tmp_path / "new"))
    upgraded, new = DeltaTable(old), DeltaTable(tmp_path / "new")
    assert upgraded.metadata().configuration == new.metadata().configuration
    assert {field.name: field.type for field in upgraded.schema().fields} == {
        field.name: field.type for field in new.schema().fields
    }


def test_a_store_of_today_needs_no_step(tmp_path) -> None:
    Store.create_or_open(str(tmp_path))
    assert Store.upgrade(str(tmp_path)) == ()
    assert DeltaTable(tmp_path).version() == 0


def test_an_upgrade_that_was_cut_short_is_begun_again(old, monkeypatch) -> None:
    step = upgrade.STEPS[1]

    def broken(table: DeltaTable) -> None:
        step.take(table)
        raise OSError("no space left on device")

    monkeypatch.setitem(upgrade.STEPS, 1, upgrade.Step(step.name, broken))
    with pytest.raises(FlakeReportError, match=r"cannot be upgraded \(no space left on device\); mend that"):
        Store.upgrade(old)
    monkeypatch.undo()
    assert len(Store.upgrade(old)) == 1
    assert len(Store.open(old).histories(Query())) == 1


def test_a_newer_store_is_not_upgraded(tmp_path) -> None:
    Store.create_or_open(str(tmp_path))
    DeltaTable(tmp_path).alter.set_table_properties({"flake-report.layout": "99"}, raise_if_not_exists=False)
    with pytest.raises(FlakeReportError, match="install a newer flake-report"):
        Store.upgrade(str(tmp_path))
