"""How the rows of a file lie in it: what a reader of a few columns, or of a few rows, has to unpack."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flake_report.store.layout import TABLES, file_schema
from flake_report.store.root import located
from flake_report.store.transaction import write_file

ROWS, TESTS = 300_000, 50_000
NAME = "test_fewer_blocks[{:05d}-google/gemma-3-1b-it-float16]"


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> tuple[pa.Table, Path]:
    """Attempts of 50,000 tests, six of each, and the file that they are in."""
    begin = datetime(2026, 11, 2, tzinfo=UTC)
    columns = {
        "name": [NAME.format(at % TESTS) for at in range(ROWS)],
        "started_at": [begin + timedelta(seconds=at, microseconds=at * 7 % 1000) for at in range(ROWS)],
    }
    given = [
        pa.array(columns[name], form) if name in columns else pa.nulls(ROWS, form)
        for name, form in TABLES["attempts"].items()
    ]
    table = pa.table(given, schema=file_schema("attempts"))
    folder = tmp_path_factory.mktemp("store")
    return table, folder / write_file(located(str(folder)), ("attempts", "2026-W45"), table).path


def chunk(path: Path, group: int, name: str) -> pq.ColumnChunkMetaData:
    found = pq.ParquetFile(path).metadata.row_group(group)
    return next(at for at in map(found.column, range(found.num_columns)) if at.path_in_schema == name)


def test_a_file_gives_back_its_rows(written) -> None:
    table, path = written
    assert pq.ParquetFile(path).read().equals(table)


def test_the_names_of_tens_of_thousands_of_tests_are_listed_once_for_a_group_of_rows(written) -> None:
    """A list of all names, and a number of 16 bits for each row; names written out would be five times as much."""
    _, path = written
    names = chunk(path, 0, "name")
    listed = TESTS * (len(NAME.format(0)) + 4)
    assert names.num_values == 250_000
    assert listed < names.total_uncompressed_size < listed + 250_000 * 2.2


def test_times_are_written_as_steps_from_one_to_the_next(written) -> None:
    _, path = written
    times = chunk(path, 0, "started_at")
    assert not times.has_dictionary_page
    assert times.total_uncompressed_size < times.num_values * 4  # of 8 bytes each


def test_the_jobs_of_a_week_are_several_groups(tmp_path) -> None:
    count = 120_000
    ingests = pa.array(range(count), pa.int64())
    rows = [ingests if name == "ingest" else pa.nulls(count, form) for name, form in TABLES["jobs"].items()]
    table = pa.table(rows, schema=file_schema("jobs"))
    path = tmp_path / write_file(located(str(tmp_path)), ("jobs", "2026-W45"), table).path
    assert pq.ParquetFile(path).metadata.num_row_groups == 3
