"""What is no store of ours is refused with one sentence that says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from flake_report.errors import FlakeReportError
from flake_report.model.query import Query
from flake_report.store import Store


def refusal(action, *arguments) -> str:
    with pytest.raises(FlakeReportError) as caught:
        action(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_store_says_which_command_makes_one(tmp_path: Path) -> None:
    path = tmp_path / "none"
    assert refusal(Store.open, str(path)) == (
        f"store {path}: does not exist; `flake-report ingest SOURCE --store {path}` makes it"
    )
    assert not path.exists()


def test_a_folder_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "this folder is no store" in refusal(Store.open, str(tmp_path))
    assert "this folder is no store and not empty" in refusal(Store.create_or_open, str(tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("action", [Store.open, Store.create_or_open], ids=["open", "create or open"])
def test_a_file_is_refused(action, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    assert "is a file, and a store is a folder" in refusal(action, str(path))


@pytest.mark.parametrize("action", [Store.open, Store.create_or_open], ids=["open", "create or open"])
def test_a_delta_table_of_something_else_is_refused(action, tmp_path: Path) -> None:
    write_deltalake(tmp_path / "other", pa.table({"x": [1]}))
    assert "is a Delta table of something else" in refusal(action, str(tmp_path / "other"))


@pytest.mark.parametrize("action", [Store.open, Store.create_or_open], ids=["open", "create or open"])
def test_a_store_of_a_newer_layout_is_refused(action, tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    Store.create_or_open(path)
    DeltaTable(path).alter.set_table_properties({"flake-report.layout": "3"}, raise_if_not_exists=False)
    assert refusal(action, path) == (
        f"store {path}: has layout 3, this flake-report reads 2; install a newer flake-report"
    )


def test_an_empty_folder_becomes_a_store(tmp_path: Path) -> None:
    assert Store.create_or_open(str(tmp_path)).histories(Query()) == ()
    assert Store.open(str(tmp_path)).histories(Query()) == ()


def test_a_store_whose_making_was_cut_short_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "store" / "_delta_log").mkdir(parents=True)
    assert Store.create_or_open(str(tmp_path / "store")).histories(Query()) == ()


def test_the_layout_and_the_checkpoints_are_set_in_the_table_itself(tmp_path: Path) -> None:
    Store.create_or_open(str(tmp_path))
    table = DeltaTable(tmp_path)
    assert table.metadata().configuration == {
        "delta.checkpointInterval": "10",
        "delta.deletedFileRetentionDuration": "interval 1 days",
        "flake-report.layout": "2",
    }
    assert table.metadata().partition_columns == ["kind", "week"]


@pytest.mark.parametrize(
    "address",
    ["ftp://host/store", "s3://", "s3:///store", "s3://user:secret@bucket/store", "s3://bucket/store?x=1", "gs//b://c"],
)
def test_what_can_be_no_address_is_refused_before_anybody_is_asked(address: str) -> None:
    assert refusal(Store.open, address) == (
        f"store {address}: is no address of a store; name a folder, or s3://BUCKET/FOLDER (gs, az alike)"
    )


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be made" in refusal(Store.create_or_open, str(tmp_path / "file" / "store"))


def damaged_file(root: Path) -> None:
    next(root.glob("kind=attempts/*/*.parquet")).write_bytes(b"PAR1 and no more")


def missing_file(root: Path) -> None:
    next(root.glob("kind=jobs/*/*.parquet")).unlink()


def cut_file(root: Path) -> None:
    path = next(root.glob("kind=builds/*/*.parquet"))
    path.write_bytes(path.read_bytes()[:-200])


def test_damage_inside_a_file_is_one_sentence_too(tmp_path: Path, make) -> None:
    """The file's end, which says where its columns lie, is whole; the columns are not."""
    store = Store.create_or_open(str(tmp_path))
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    for path in tmp_path.glob("kind=attempts/*/*.parquet"):
        held = path.read_bytes()
        end = 8 + int.from_bytes(held[-8:-4], "little")
        path.write_bytes(held[:4] + bytes(len(held) - 4 - end) + held[-end:])
    assert refusal(store.histories, Query()).startswith(f"store {tmp_path}: cannot be read (")


@pytest.mark.parametrize("harm", [damaged_file, missing_file, cut_file], ids=lambda harm: harm.__name__)
def test_a_damaged_data_file_is_named_in_one_sentence(harm, tmp_path: Path, make) -> None:
    store = Store.create_or_open(str(tmp_path))
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    harm(tmp_path)
    said = refusal(store.histories, Query())
    assert said.startswith(f"store {tmp_path}: cannot be read (")
    assert ".parquet" in said


def bad_json(log: Path) -> None:
    (log / "00000000000000000000.json").write_text("{not json")


def no_beginning(log: Path) -> None:
    (log / "00000000000000000000.json").unlink()


def no_metadata(log: Path) -> None:
    (log / "00000000000000000000.json").write_text(json.dumps({"commitInfo": {}}) + "\n")


@pytest.mark.parametrize("harm", [bad_json, no_beginning, no_metadata], ids=lambda harm: harm.__name__)
def test_a_damaged_log_is_one_sentence(harm, tmp_path: Path, make) -> None:
    Store.create_or_open(str(tmp_path)).ingest([make.record(make.build(), make.job())])
    harm(tmp_path / "_delta_log")
    assert refusal(Store.open, str(tmp_path)).startswith(f"store {tmp_path}: ")


NAMES = ["with blank", "ünïcode", "it's", "[x]", "a*b", "q?", "#1", "week=2020-W01", "50%"]


@pytest.mark.parametrize("name", NAMES)
def test_any_folder_name_will_do(name: str, tmp_path: Path, make) -> None:
    store = Store.create_or_open(str(tmp_path / name))
    store.ingest([make.record(make.build(), make.job(), make.attempt("a"))])
    assert len(store.histories(Query())) == 1
    assert store.table("jobs").project("week").fetchall() == [("2026-W45",)]


def test_a_table_that_needs_a_newer_reader_of_delta_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store"
    Store.create_or_open(str(path))
    (log,) = (path / "_delta_log").glob("*.json")
    log.write_text(log.read_text().replace('"minReaderVersion":1', '"minReaderVersion":9'))
    told = refusal(Store.open, str(path))
    assert told.startswith(f"store {path}: was written in a newer way (")
    assert told.endswith("reader version 9); install a newer flake-report")


@pytest.mark.parametrize(
    ("name", "what"), [("a%20b", "`%` before two digits"), ("a\\b", "a backslash")], ids=["decoded", "parted"]
)
def test_a_folder_name_that_delta_would_take_for_another_is_refused(name: str, what: str, tmp_path: Path) -> None:
    assert f"cannot hold {what}; name another path" in refusal(Store.create_or_open, str(tmp_path / name))
    assert not list(tmp_path.iterdir())
