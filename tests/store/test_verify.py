"""Each promise of a store, broken on purpose: by a writer that is not ours, or on the disk."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from flake_report.store import Store
from flake_report.store.layout import TABLES


@pytest.fixture
def whole(store, make, tmp_path):
    """Two builds of two weeks; one job was ingested twice."""
    for at in (1, 8):
        store.ingest([make.record(make.build(at), make.job(f"j{at}"), make.attempt("a"), make.attempt("b"))])
    store.ingest([make.record(make.build(1), make.job("j1"), make.attempt("a"))])
    return tmp_path / "store"


def broken(path: Path) -> dict[str, tuple[str, ...]]:
    return {check.promise: check.broken for check in Store.open(str(path)).verify() if check.broken}


def spoil(path: Path, kind: str, **columns: object) -> None:
    """A foreign writer adds rows of a kind, copied from one that is there, with some columns replaced."""
    source = next(path.glob(f"kind={kind}/week=2026-W46/*.parquet"))
    rows = pq.ParquetFile(source).read()
    for name, value in {"kind": kind, "week": "2026-W46", **columns}.items():
        typed = TABLES[kind].get(name, pa.string())
        filled = pa.array([value] * rows.num_rows, typed)
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, name, filled) if at >= 0 else rows.append_column(name, filled)
    write_deltalake(path, rows, mode="append", schema_mode="merge")


def test_a_sound_store_keeps_every_promise(whole) -> None:
    assert broken(whole) == {}


def test_an_empty_store_keeps_every_promise(store) -> None:
    assert [check for check in store.verify() if check.broken] == []


def test_a_row_without_its_job(whole) -> None:
    spoil(whole, "attempts", job="nobody", ingest=1)
    assert broken(whole) == {"the job of every row exists": ("attempts: job nobody",)}


def test_a_job_without_its_build(whole) -> None:
    spoil(whole, "jobs", job="j9", build="99", ingest=1)
    assert broken(whole)["the build of every job exists"] == ("jobs: build acme/ci/99",)


def test_a_build_in_another_week(whole) -> None:
    spoil(whole, "builds", build="9", week="2026-W40", ingest=1)
    assert broken(whole) == {
        "a build lies in the week of its creation": ("builds: build 9 of 2026-11-09 00:00:00+00 lies in 2026-W40",)
    }


def test_rows_in_another_week_than_their_job(whole) -> None:
    spoil(whole, "attempts", week="2026-W40")
    assert broken(whole) == {
        "a row lies in the week of its job": ("attempts: job j8 of 2026-W46 has rows in 2026-W40",)
    }


def test_a_commit_number_that_is_not_there(whole) -> None:
    spoil(whole, "jobs", job="j9", commit_version=77, ingest=1)
    assert broken(whole) == {
        "each ingest of a job has a commit of its own": ("jobs: job j9 names a commit that is not there",)
    }


def test_one_commit_number_for_two_ingests_of_a_job(whole) -> None:
    spoil(whole, "jobs", ingest=1)
    assert "each ingest of a job has a commit of its own" in broken(whole)


def test_a_superseded_row_that_is_seen(whole, monkeypatch) -> None:
    from flake_report.store import selection

    real = selection.statement
    by_ingest = {"newest_jobs": lambda text: text.replace("commit_version DESC", "commit_version ASC")}
    monkeypatch.setattr(selection, "statement", lambda name, **holes: by_ingest.get(name, str)(real(name, **holes)))
    found = broken(whole)
    assert sorted(found["no superseded row is seen"]) == ["attempts: job j1", "jobs: job j1"]
    assert "no row that counts is missed" in found


def test_a_missing_file(whole) -> None:
    gone = next(whole.glob("kind=jobs/*/*.parquet"))
    gone.unlink()
    assert list(broken(whole).values()) == [(f"{gone.relative_to(whole)}: is missing",)]


def test_a_cut_file(whole) -> None:
    cut = next(whole.glob("kind=attempts/*/*.parquet"))
    size = cut.stat().st_size
    cut.write_bytes(cut.read_bytes()[:-10])
    said = f"{cut.relative_to(whole)}: has {size - 10:,} bytes, the log says {size:,}"
    assert list(broken(whole).values()) == [(said,)]


def test_a_file_of_the_right_size_that_is_no_parquet(whole) -> None:
    bad = next(whole.glob("kind=attempts/*/*.parquet"))
    bad.write_bytes(b"x" * bad.stat().st_size)
    ((line,),) = broken(whole).values()
    assert line.startswith(f"{bad.relative_to(whole)}: ")


def test_a_file_with_other_rows_than_the_log_says(whole) -> None:
    path = next(path for path in whole.glob("kind=attempts/week=2026-W46/*.parquet"))
    rows = pq.ParquetFile(path).read()
    text = (log := max((whole / "_delta_log").glob("*2.json"))).read_text()
    assert pc.count(rows["job"]).as_py() == 2
    assert path.name in text
    log.write_text(re.sub(r'(numRecords\\": ?)2', r"\g<1>3", text))
    assert list(broken(whole).values()) == [(f"{path.relative_to(whole)}: has 2 rows, the log says 3",)]
    assert DeltaTable(whole).version() == 3
