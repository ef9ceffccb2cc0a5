"""What an executor does of an ingest: it needs nothing of who sent it, and nothing counts before it lands."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from flake_report import demo, flow
from flake_report.collect.sources import parts
from flake_report.partition import Done, Task, read_part
from flake_report.store import Store
from flake_report.store.commit import together
from flake_report.store.layout import TABLES


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("archive")
    demo.write_history(root)
    return root


def travelled(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


def read(store: Store, sources: list[str]) -> Done:
    """As an executor does it: task and answer travel."""
    task = travelled(Task(store.address, flow.signature_table(), frozenset()))
    return travelled(read_part(task, iter(sources)))


def natural(store: Store, kind: str) -> list[str]:
    return sorted(map(repr, store.table(kind).to_arrow_table().drop_columns(["ingest"]).to_pylist()))


def test_the_builds_of_an_archive_are_read_apart_as_together(archive: Path, tmp_path: Path) -> None:
    whole = str(tmp_path / "whole")
    flow.ingest(str(archive), whole, flow.signature_table(), lambda _: None, lambda: None)
    builds = parts(str(archive))
    assert len(builds) > 40
    store = Store.create_or_open(str(tmp_path / "store"))
    done = [read(store, builds[:20]), read(store, builds[20:21]), read(store, builds[21:])]
    counts = store.land(together([one for part in done for one in part.prepared]))
    assert {kind: natural(store, kind) for kind in TABLES} == {
        kind: natural(Store.open(whole), kind) for kind in TABLES
    }
    assert counts.jobs == sum(len(part.jobs) for part in done)
    assert store.info().version == 1


def test_nothing_counts_before_it_lands(archive: Path, tmp_path: Path) -> None:
    store = Store.create_or_open(str(tmp_path / "store"))
    done = read(store, parts(str(archive))[:1])
    assert list((tmp_path / "store").glob("kind=attempts/*/*.parquet"))
    assert store.info().tables["attempts"].rows == 0
    store.land(together(done.prepared))
    assert store.info().tables["attempts"].rows > 0


def test_of_a_job_in_two_parts_the_last_ones_word_counts(archive: Path, tmp_path: Path) -> None:
    store = Store.create_or_open(str(tmp_path / "store"))
    build = parts(str(archive))[:1]
    first, second = read(store, build), read(store, build)
    counts = store.land(together([*first.prepared, *second.prepared]))
    assert counts.jobs == len(first.jobs)
    assert counts.builds == 1
    assert [check for check in store.verify() if check.broken] == []
    [last] = second.prepared
    [jobs] = [rows for (kind, _), rows in last.waiting.items() if kind == "jobs"]
    assert sorted(jobs["ingest"].to_pylist()) == sorted(
        ingest for (ingest,) in store.table("jobs").project("ingest").fetchall()
    )


def test_an_executor_loads_no_engine_and_no_statistics() -> None:
    program = "import sys, flake_report.partition; print({'duckdb', 'pandas', 'scipy', 'pyspark'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
