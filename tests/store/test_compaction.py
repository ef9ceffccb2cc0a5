"""Merging files: what is chosen, what goes, and that nobody notices."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable

from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.model.results import Outcome
from flake_report.model.upkeep import Compacted
from flake_report.store import Store, compaction
from flake_report.store.compaction import FULL, compact, due, worthwhile
from flake_report.store.delta import DataFile, files, open_table
from flake_report.store.root import located


def sized(*rows: int) -> list[DataFile]:
    return [DataFile(f"/s/{at}", count, 1, str(at)) for at, count in enumerate(rows)]


@pytest.mark.parametrize(
    ("rows", "merged"),
    [
        ([1] * 9, []),
        ([1] * 10, [10]),
        ([FULL] * 30, []),
        ([1] * 9 + [FULL // 10] * 9, []),
        ([1] * 12 + [FULL // 10] * 11 + [FULL] * 4, [11, 12]),
        ([FULL // 100 - 1] * 5 + [FULL // 100] * 5, []),
    ],
    ids=["nine small", "ten small", "only full ones", "nine of two tiers", "two tiers and full ones", "on the border"],
)
def test_ten_files_of_one_tier_are_due(rows, merged) -> None:
    piles = due({"attempts": {"2026-W45": sized(*rows)}})
    assert sorted(len(pile.files) for pile in piles) == merged


def test_each_week_and_kind_is_merged_apart() -> None:
    found = {"attempts": {"2026-W45": sized(*[1] * 10), "2026-W46": sized(1)}, "jobs": {"2026-W45": sized(*[1] * 10)}}
    assert [(pile.week, pile.kind) for pile in due(found)] == [("2026-W45", "attempts"), ("2026-W45", "jobs")]


def file_counts(path: Path) -> dict[str, int]:
    uris = DeltaTable(path).file_uris()
    return {kind: sum(f"kind={kind}/" in uri for uri in uris) for kind in ("builds", "jobs", "attempts")}


@pytest.fixture
def filled(store, make):
    """Thirty ingests of twenty-five jobs: five come again, one of them in another week."""
    for at in range(30):
        build = make.build(1 + at % 25)
        if at == 26:
            build = make.build(2, created_at=make.monday.replace(month=12))
        outcome = Outcome.FAILED if at % 4 == 0 else Outcome.PASSED
        store.ingest([make.record(build, make.job(f"j{at % 25}", agent=f"a{at}"), make.attempt("t", outcome))])
    return store


def seen(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {kind: sorted(map(repr, store.table(kind).fetchall())) for kind in ("builds", "jobs", "attempts")}


def test_ingest_merges_by_itself(store, make, tmp_path) -> None:
    most = 0
    for at in range(60):
        store.ingest([make.record(make.build(), make.job(f"j{at}"), make.attempt("t"))])
        most = max(most, *file_counts(tmp_path / "store").values())
    assert most < 30
    assert DeltaTable(tmp_path / "store").version() > 60
    assert store.table("attempts").aggregate("count(*)").fetchall() == [(60,)]


def test_compaction_changes_nothing_that_is_seen(filled, tmp_path) -> None:
    before = seen(filled), filled.fleet(Query()), filled.health(Query())
    done = filled.compact()
    assert done.files_before > done.files_after
    assert (seen(filled), filled.fleet(Query()), filled.health(Query())) == before
    again = Store.open(str(tmp_path / "store"))
    assert (seen(again), again.fleet(Query()), again.health(Query())) == before
    assert [check for check in again.verify() if check.broken] == []


def test_compaction_leaves_one_file_a_week_and_no_superseded_row(filled) -> None:
    filled.compact()
    info = filled.info()
    assert {name: table.superseded for name, table in info.tables.items()} == dict.fromkeys(info.tables, 0)
    assert [info.tables[kind].rows for kind in ("builds", "jobs", "attempts")] == [25, 25, 25]
    assert info.tables["attempts"].files == len(info.weeks) == 5


def test_compaction_of_a_compacted_store_does_nothing(filled, tmp_path) -> None:
    filled.compact()
    version = DeltaTable(tmp_path / "store").version()
    assert filled.compact().files_before == 0
    assert DeltaTable(tmp_path / "store").version() == version


def test_a_week_of_which_nothing_counts_any_more_is_emptied(store, make, tmp_path) -> None:
    store.ingest([make.record(make.build(), make.job(), make.attempt("t"))])
    store.ingest([make.record(make.build(created_at=make.monday.replace(month=12)), make.job(), make.attempt("t"))])
    assert store.compact().rows_dropped == 3
    assert file_counts(tmp_path / "store") == {"builds": 1, "jobs": 1, "attempts": 1}
    assert len(store.histories(Query())) == 1


def test_large_piles_become_full_files(store, make, monkeypatch) -> None:
    monkeypatch.setattr(compaction, "FULL", 50)
    for at in range(1, 8):
        store.ingest([make.record(make.build(1), make.job(f"j{at}"), *(make.attempt(f"t{n}") for n in range(20)))])
    store.compact()
    assert store.info().tables["attempts"].files == 3
    assert store.table("attempts").aggregate("count(*)").fetchall() == [(140,)]


def test_of_two_compactions_of_the_same_files_one_counts(filled, tmp_path) -> None:
    root = located(str(tmp_path / "store"))
    table = open_table(root)
    before = seen(filled)
    piles = worthwhile(files(root, table))
    filled.compact()
    assert compact(root, table, piles, across_weeks=True) == Compacted()
    assert seen(Store.open(str(tmp_path / "store"))) == before
    on_disk = {path.name for path in (tmp_path / "store").glob("kind=*/week=*/*.parquet")}
    log = " ".join(entry.read_text() for entry in (tmp_path / "store" / "_delta_log").glob("*.json"))
    assert {name for name in on_disk if name not in log} == set(), "what lost is not left lying about"


def test_a_reader_of_before_goes_on_reading(filled, tmp_path) -> None:
    reader = Store.open(str(tmp_path / "store"))
    before = seen(reader)
    filled.compact()
    assert seen(reader) == before


def test_a_damaged_file_is_named_and_nothing_is_lost(filled, tmp_path) -> None:
    version = DeltaTable(tmp_path / "store").version()
    target = next(Path(uri) for uri in DeltaTable(tmp_path / "store").file_uris() if "kind=attempts" in uri)
    target.write_bytes(b"PAR1 and no more")
    with pytest.raises(FlakeReportError, match="cannot be read"):
        filled.compact()
    assert DeltaTable(tmp_path / "store").version() >= version
    assert str(target).endswith(tuple(uri[-20:] for uri in DeltaTable(tmp_path / "store").file_uris()))


WRITER = """
import pickle, sys
from flake_report.store import Store
store = Store.open(sys.argv[1])
for record in pickle.load(sys.stdin.buffer):
    store.ingest([record])
"""
COMPACTOR = """
import sys
from flake_report.store import Store
for _ in range(8):
    Store.open(sys.argv[1]).compact()
"""


def test_compaction_beside_writers_and_readers(tmp_path: Path, make) -> None:
    path = str(tmp_path / "store")
    Store.create_or_open(path)
    writers, rounds = 2, 20

    def records(writer: int):
        """Every fifth job is one that all writers bring."""
        return [
            make.record(
                make.build(1 + turn % 9),
                make.job(f"shared-{turn}" if turn % 5 == 0 else f"{writer}-{turn}"),
                *(make.attempt(f"t{n}") for n in range(5)),
            )
            for turn in range(rounds)
        ]

    running = []
    for program, given in [(WRITER, pickle.dumps(records(at))) for at in range(writers)] + [(COMPACTOR, b"")]:
        process = subprocess.Popen([sys.executable, "-c", program, path], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        process.stdin = None
        running.append(process)
    counted = [0]
    while any(process.poll() is None for process in running):
        table = Store.open(path).table("attempts")
        jobs, rows = table.aggregate("count(DISTINCT job), count(*)").fetchall()[0]
        assert rows == 5 * jobs, "a job is seen whole"
        counted.append(jobs)
    assert [process.communicate()[1] for process in running] == [b""] * len(running)
    assert counted == sorted(counted), "what was once seen stays"
    store = Store.open(path)
    assert [check for check in store.verify() if check.broken] == []
    own = writers * sum(turn % 5 != 0 for turn in range(rounds))
    assert store.table("jobs").aggregate("count(*)").fetchall() == [(own + rounds // 5,)]
