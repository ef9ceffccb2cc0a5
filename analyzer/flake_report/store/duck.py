"""DuckDB, in this process: the engine that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from .delta import DataFile
from .layout import TABLES, file_schema


class Duck:
    """A DuckDB database in memory; see `Engine` for what it can do."""

    rows_at_once = 1_000_000  # more at once is no faster
    damage: tuple[type[Exception], ...] = (duckdb.IOException, duckdb.InvalidInputException)

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"python_enable_replacements": False})
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET preserve_insertion_order = false")

    def show(self, view: str, kind: str, files: Sequence[DataFile]) -> None:
        if files:
            paths = [file.path for file in files]
            rows = self._connection.read_parquet(paths, filename=True, hive_partitioning=False, union_by_name=True)
        else:
            rows = self._connection.from_arrow(file_schema(kind).append(_FILE_NAME).empty_table())
        held = set(rows.columns)
        columns = ", ".join(
            f'"{name}"' if name in held else f'CAST(NULL AS {_TYPES[typed]}) AS "{name}"'
            for name, typed in TABLES[kind].items()
        )
        rows.project(f"{columns}, {_WEEK} AS week").create_view(view, replace=True)

    def make(self, name: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")

    def begin(self, name: str, schema: pa.Schema) -> None:
        self._connection.execute(f"DROP TABLE IF EXISTS {name}")
        self._connection.from_arrow(schema.empty_table()).create(name)

    def add(self, name: str, query: str) -> None:
        self._connection.execute(f"INSERT INTO {name} BY NAME {query}")

    def answer(self, query: str) -> pa.Table:
        return self._connection.sql(query).to_arrow_table()

    def relation(self, query: str) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(query)


_TYPES = {
    pa.string(): "TEXT",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", tz="UTC"): "TIMESTAMPTZ",
}
"""For columns that files of an older program lack."""

_FILE_NAME = pa.field("filename", pa.string())
_WEEK = "regexp_extract(filename, '.*/week=([^/]*)/[^/]*$', 1)"
"""From the last folder: DuckDB's own partition columns would believe a `week=` higher up in the path."""
