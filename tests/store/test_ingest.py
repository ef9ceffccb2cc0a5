"""What an ingest leaves in the store, again and again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import iso_week
from flake_report.model.query import Query
from flake_report.model.record import IngestCounts
from flake_report.model.results import Outcome
from flake_report.store import Store
from flake_report.store import commit as commit_module


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(2026, 11, 29, 23, 59, tzinfo=UTC), "2026-W48"),
        (datetime(2026, 11, 30, tzinfo=UTC), "2026-W49"),
        (datetime(2027, 1, 3, tzinfo=UTC), "2026-W53"),
        (datetime(2024, 12, 30, tzinfo=UTC), "2025-W01"),
        (datetime.fromisoformat("2026-11-30T01:00:00+02:00"), "2026-W48"),
        (datetime(2026, 11, 30), "2026-W49"),  # noqa: DTZ001 - a naive time is the case
    ],
    ids=[
        "Sunday's last minute",
        "Monday",
        "a year of 53 weeks",
        "a year that begins in December",
        "in UTC it is still Sunday",
        "a naive time is UTC",
    ],
)
def test_a_week_is_the_iso_week_in_utc(moment, expected) -> None:
    assert iso_week(moment) == expected


def test_counts_say_what_came_and_a_build_of_two_jobs_is_one(store, make) -> None:
    build = make.build()
    counts = store.ingest(
        [
            make.record(build, make.job("j1"), make.attempt("a"), make.attempt("b")),
            make.record(build, make.job("j2"), make.attempt("c")),
        ]
    )
    assert counts == IngestCounts(builds=1, jobs=2, attempts=3)


def test_nothing_to_ingest_commits_nothing(store, tmp_path) -> None:
    assert store.ingest([]) == IngestCounts()
    assert DeltaTable(tmp_path / "store").version() == 0


def test_a_job_that_comes_again_replaces_what_it_had(store, make, rows) -> None:
    build = make.build()
    store.ingest([make.record(build, make.job("j1"), make.attempt("a"), make.attempt("b"))])
    store.ingest([make.record(build, make.job("j2"), make.attempt("c"))])
    store.ingest([make.record(build, make.job("j1", agent="new"), make.attempt("a", Outcome.FAILED))])
    assert rows("attempts", "job", "name", "outcome") == [("j1", "a", "failed"), ("j2", "c", "passed")]
    assert rows("jobs", "job", "agent") == [("j1", "new"), ("j2", "agent-1")]


def test_ingesting_the_same_twice_changes_no_number(store, make) -> None:
    records = [
        make.record(make.build(at), make.job(f"j{at}"), make.attempt("a", Outcome.FAILED if at % 3 else Outcome.PASSED))
        for at in range(1, 9)
    ]
    store.ingest(records)
    before = store.histories(Query()), store.health(Query())
    store.ingest(records)
    assert (store.histories(Query()), store.health(Query())) == before


def test_a_job_without_attempts_replaces_one_with_them(store, make, rows) -> None:
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    store.ingest([make.record(make.build(), make.job())])
    assert rows("attempts", "name") == []
    assert store.health(Query()).jobs_without_results == 1


def test_of_a_job_that_comes_twice_in_one_ingest_the_later_counts(store, make, rows) -> None:
    build = make.build()
    store.ingest(
        [
            make.record(build, make.job("j1"), make.attempt("old")),
            make.record(build, make.job("j2"), make.attempt("other")),
            make.record(build, make.job("j1"), make.attempt("new")),
        ]
    )
    assert rows("attempts", "name") == ["new", "other"]


def test_a_job_whose_build_moves_to_another_week_is_seen_once_in_the_new_week(store, make, rows) -> None:
    build = make.build()
    store.ingest([make.record(build, make.job(), make.attempt("a"))])
    later = make.build(created_at=build.created_at + timedelta(days=14))
    store.ingest([make.record(later, make.job(), make.attempt("a"))])
    assert rows("attempts", "name", "week") == [("a", "2026-W47")]
    assert rows("builds", "build", "week") == [("1", "2026-W47")]
    (history,) = store.histories(Query())
    assert [streak.runs for streak in history.passes] == [1]


def test_a_build_that_moved_between_two_of_its_jobs_is_still_one_run(store, make) -> None:
    build = make.build()
    moved = make.build(created_at=build.created_at + timedelta(days=14))
    store.ingest([make.record(build, make.job("j1"), make.attempt("a", Outcome.FAILED))])
    store.ingest([make.record(moved, make.job("j2", attempt=1), make.attempt("a"))])
    (history,) = store.histories(Query())
    assert [run.verdict.value for run in history.runs] == ["flaky"]


def test_the_last_word_on_a_build_counts(store, make, rows) -> None:
    store.ingest([make.record(make.build(state="running"), make.job("j1"))])
    store.ingest([make.record(make.build(state="failed"), make.job("j2"))])
    assert rows("builds", "build", "state") == [("1", "failed")]


def test_the_commit_that_comes_last_wins_whatever_state_its_writer_had_seen(tmp_path, make) -> None:
    path = str(tmp_path / "store")
    early, late = Store.create_or_open(path), Store.create_or_open(path)
    late.ingest([make.record(make.build(), make.job(agent="committed first"), make.attempt("a"))])
    early.ingest([make.record(make.build(), make.job(agent="committed last"), make.attempt("a"))])
    assert Store.open(path).table("jobs").project("agent").fetchall() == [("committed last",)]


def test_jobs_rows_carry_the_number_of_their_commit(store, make, tmp_path) -> None:
    for at in range(1, 4):
        store.ingest([make.record(make.build(at), make.job(f"j{at}"))])
    log = tmp_path / "store" / "_delta_log"
    for version in range(1, 4):
        entries = map(json.loads, (log / f"{version:020d}.json").read_text().splitlines())
        paths = [entry["add"]["path"] for entry in entries if "add" in entry]
        (jobs,) = [path for path in paths if path.startswith("kind=jobs/")]
        found = pq.ParquetFile(tmp_path / "store" / jobs).read()["commit_version"].to_pylist()
        assert found == [version]


def test_a_large_ingest_is_cut_into_commits_that_each_hold_whole_jobs(store, make, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(commit_module, "_BATCH", 10)
    counts = store.ingest(
        make.record(make.build(at), make.job(f"j{at}"), *(make.attempt(f"t{n}") for n in range(6)))
        for at in range(1, 6)
    )
    assert counts.attempts == 30
    assert DeltaTable(tmp_path / "store").version() == 3
    assert {history.passes[0].runs for history in store.histories(Query())} == {5}


def test_records_before_a_failure_stay(store, make, monkeypatch) -> None:
    monkeypatch.setattr(commit_module, "_BATCH", 1)

    def records():
        yield make.record(make.build(), make.job("j1"), make.attempt("a"))
        raise FlakeReportError("the source broke off")

    with pytest.raises(FlakeReportError, match="broke off"):
        store.ingest(records())
    assert len(store.histories(Query())) == 1


def test_text_and_numbers_that_no_column_can_hold_are_mended(store, make, rows) -> None:
    attempt = make.attempt("lone \ud800 surrogate", pid=2**70, message="nul \x00 kept", position=3)
    store.ingest([make.record(make.build(), make.job(), attempt)])
    assert rows("attempts", "name", "pid", "message", "position") == [("lone ? surrogate", None, "nul \x00 kept", 3)]


def test_every_tenth_commit_leaves_a_checkpoint(store, make, tmp_path) -> None:
    for at in range(1, 21):
        store.ingest([make.record(make.build(at), make.job(f"j{at}"))])
    checkpoints = sorted(Path(tmp_path / "store" / "_delta_log").glob("*.checkpoint.parquet"))
    assert len(checkpoints) == 2


def test_compacted_files_and_new_ones_are_read_together(store, make, tmp_path) -> None:
    for at in range(1, 6):
        store.ingest([make.record(make.build(at), make.job(f"j{at}"), make.attempt("a"))])
    DeltaTable(tmp_path / "store").optimize.compact()
    store.ingest([make.record(make.build(6), make.job("j6"), make.attempt("a", Outcome.FAILED))])
    (history,) = store.histories(Query())
    assert [streak.runs for streak in history.passes] == [5]
    assert [run.order for run in history.runs] == [5]


def test_a_folder_that_cannot_be_written_is_one_sentence(store, make, tmp_path) -> None:
    (tmp_path / "store" / "kind=jobs").write_text("in the way")
    with pytest.raises(FlakeReportError, match="cannot be written"):
        store.ingest([make.record(make.build(), make.job())])
