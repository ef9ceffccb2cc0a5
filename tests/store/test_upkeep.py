"""What is known of a store, and its unused files: in a folder and in a bucket alike."""

from __future__ import annotations

import pytest

from flake_report.model.query import Query
from flake_report.store import Store


@pytest.fixture(params=["folder", "bucket"])
def filled(request, make, tmp_path) -> Store:
    """Two builds in two weeks; the first came three times, the last time in the second week."""
    place = request.getfixturevalue("bucket") if request.param == "bucket" else str(tmp_path / "store")
    store = Store.create_or_open(place)
    for at in (1, 8, 1):
        store.ingest([make.record(make.build(at), make.job(f"j{at}"), make.attempt("a"), make.attempt("b"))])
    moved = make.build(1, created_at=make.build(9).created_at)
    store.ingest([make.record(moved, make.job("j1"), make.attempt("a"))])
    return store


def test_what_is_in_it_is_counted_by_hand(filled) -> None:
    info = filled.info()
    assert (info.layout, info.version, info.weeks) == (2, 4, ("2026-W45", "2026-W46"))
    assert {name: (table.rows, table.superseded, table.files) for name, table in info.tables.items()} == {
        "builds": (4, 2, 4),
        "jobs": (4, 2, 4),
        "attempts": (7, 4, 4),
        "matches": (0, 0, 0),
        "memory": (0, 0, 0),
        "engines": (0, 0, 0),
    }
    assert info.tables["attempts"].size > 0
    assert info.readers == {("parser-1", "signatures-1", "fingerprint-1"): 4}
    assert info.unnamed == 0


def test_compaction_and_vacuum_leave_what_is_seen(filled) -> None:
    before = filled.fleet(Query()), filled.health(Query())
    done = filled.compact()
    assert (done.files_before, done.rows_dropped) == (12, 8)
    assert done.files_after == 3
    assert filled.info().unnamed == 12
    assert filled.vacuum(hours=24).files == 0
    assert filled.vacuum(hours=0).files == 12
    assert filled.info().unnamed == 0
    again = Store.open(filled.info().path)
    assert (again.fleet(Query()), again.health(Query())) == before
    assert [check for check in again.verify() if check.broken] == []


def test_the_retention_is_that_of_the_table_itself(filled) -> None:
    """What merging left behind is gone from the checkpoints after a day, and may then be taken away."""
    from deltalake import DeltaTable

    from flake_report.store.upkeep import RETENTION

    configuration = DeltaTable(filled.info().path).metadata().configuration
    assert configuration["delta.deletedFileRetentionDuration"] == f"interval {RETENTION // 24} days"
