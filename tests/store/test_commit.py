"""A commit that another writer gets ahead of, or whose answer is lost."""

from __future__ import annotations

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.store import Store, commit


@pytest.fixture
def rival(tmp_path, make, monkeypatch):
    """While the store writes its last files before a commit, another writer commits; as often as `rival(n)` says."""

    def compete(times: int, **job) -> None:
        other, left, numbered = Store.create_or_open(str(tmp_path / "store")), [times], commit.numbered

        def overtaken(*arguments):
            if left[0]:
                left[0] -= 1
                monkeypatch.setattr(commit, "numbered", numbered)
                other.ingest([make.record(make.build(), make.job(**job), make.attempt(f"of the rival {left[0]}"))])
                monkeypatch.setattr(commit, "numbered", overtaken)
            return numbered(*arguments)

        monkeypatch.setattr(commit, "numbered", overtaken)

    return compete


def test_who_is_overtaken_commits_after_and_counts(store, make, rival, rows) -> None:
    rival(2)
    store.ingest([make.record(make.build(), make.job(), make.attempt("mine"))])
    assert rows("attempts", "name") == ["mine"]
    assert rows("jobs", "job") == ["job"]


def test_being_overtaken_leaves_no_file_behind(store, make, rival, tmp_path) -> None:
    rival(1, name="other")
    store.ingest([make.record(make.build(), make.job(), make.attempt("mine"))])
    on_disk = {path.name for path in (tmp_path / "store").glob("kind=*/week=*/*.parquet")}
    named = {uri.rpartition("/")[2] for uri in DeltaTable(tmp_path / "store").file_uris()}
    assert on_disk == named


def test_who_is_always_overtaken_says_that_the_store_is_busy(store, make, rival, monkeypatch) -> None:
    monkeypatch.setattr(commit, "_TRIES", 3)
    rival(99)
    with pytest.raises(FlakeReportError, match="is too busy, 3 tries failed; ingest again later"):
        store.ingest([make.record(make.build(), make.job(), make.attempt("mine"))])


def test_a_commit_whose_answer_is_lost_is_found_in_the_log(store, make, rows, tmp_path, monkeypatch) -> None:
    real = DeltaTable.create_write_transaction

    def answer_lost(self, *arguments, **named):
        real(self, *arguments, **named)
        raise CommitFailedError("connection closed")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", answer_lost)
    store.ingest([make.record(make.build(), make.job(), make.attempt("mine"))])
    assert rows("attempts", "name") == ["mine"]
    assert DeltaTable(tmp_path / "store").version() == 1
    assert len(store.histories(Query())) == 1
