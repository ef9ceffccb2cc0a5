"""DuckDB, in this process: the engine that needs nothing else."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from .delta import DataFile
from .layout import TABLES

if TYPE_CHECKING:
    from .objects import Objects


class Duck:
    """A DuckDB database in memory; see `Engine` for what it can do."""

    rows_at_once = 1_000_000  # more at once is no faster
    damage: tuple[type[Exception], ...] = (duckdb.IOException, duckdb.InvalidInputException)

    def __init__(self) -> None:
        self._objects: Objects | None = None
        self._connection = duckdb.connect(config={"python_enable_replacements": False})
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET preserve_insertion_order = false")
        spill = f"{tempfile.gettempdir()}/flake-report-{secrets.token_hex(8)}".replace("'", "''")
        self._connection.execute(f"SET temp_directory = '{spill}'")

    def show(self, view: str, kind: str, files: Sequence[DataFile]) -> None:
        with self._running():
            if files:
                self._reach(files)
                paths = [file.path for file in files]
                rows = self._connection.read_parquet(paths, filename=True, hive_partitioning=False, union_by_name=True)
            else:
                rows = self._connection.sql("SELECT '' AS filename WHERE false")
            held = set(rows.columns)
            columns = ", ".join(
                f'"{name}"' if name in held else f'CAST(NULL AS {_TYPES[typed]}) AS "{name}"'
                for name, typed in TABLES[kind].items()
            )
            rows.project(f"{columns}, {_WEEK} AS week").create_view(view, replace=True)

    @contextmanager
    def _running(self) -> Iterator[None]:
        """What hindered a statement from reading a bucket is said as it was met, and not as DuckDB tells it.

        Damage inside of a file is told as any other, and an interruption of this program as Python tells it.
        """
        try:
            yield
        except duckdb.Error as error:
            if self._objects is not None and self._objects.trouble is not None:
                trouble, self._objects.trouble = self._objects.trouble, None
                raise duckdb.IOException(str(trouble)) from error
            if type(error) is duckdb.Error:  # so DuckDB's reader of Parquet tells of bytes that it cannot read
                raise duckdb.IOException(str(error)) from error
            raise
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from error
            raise

    def _reach(self, files: Sequence[DataFile]) -> None:
        """See to it that DuckDB can open these files: for those in a bucket it needs help."""
        if "://" not in files[0].path:
            return
        from .objects import objects  # noqa: PLC0415  # it takes its time, and only stores in buckets need it

        if self._objects is None:
            self._objects = objects()
            self._connection.register_filesystem(self._objects)
        self._objects.know(files)

    def limit_memory(self, jobs: int) -> None:
        """Hold no more in memory than a history of so many jobs needs; what is beyond goes to temporary files."""
        self._connection.execute(f"SET memory_limit = '{_LEAST + jobs * _EACH // 1_000_000}MB'")

    def load(self, name: str, table: pa.Table) -> None:
        """A view of an Arrow table."""
        self._connection.from_arrow(table).create_view(name, replace=True)

    def make(self, name: str, query: str) -> None:
        with self._running():
            self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")

    def begin(self, name: str, schema: pa.Schema) -> None:
        columns = ", ".join(f'"{field.name}" {_TYPES[field.type]}' for field in schema)
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")

    def add(self, name: str, query: str) -> None:
        with self._running():
            self._connection.execute(f"INSERT INTO {name} BY NAME {query}")

    def drop(self, names: Sequence[str]) -> None:
        for name in names:
            self._connection.execute(f"DROP TABLE IF EXISTS {name}")

    def answer(self, query: str) -> pa.Table:
        with self._running():
            return self._connection.sql(query).to_arrow_table()

    def interrupt(self) -> None:
        self._connection.interrupt()

    def relation(self, query: str) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(query)


_INTERRUPTED = "Query interrupted"
"""What DuckDB's error says where Ctrl-C met it in Python's main thread."""

_LEAST, _EACH = 130, 150
"""Megabytes for any store, and bytes for each of its jobs, which are held as a table; attempts pass part by part.

Some 290 MB more lie beside these: the program with DuckDB, 200, and the buffers of Parquet.
"""

_TYPES = {
    pa.string(): "TEXT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", tz="UTC"): "TIMESTAMPTZ",
}
"""Types of columns, as DuckDB calls them."""

_WEEK = "regexp_extract(filename, '.*/week=([^/]*)/[^/]*$', 1)"
"""From the last folder: DuckDB's own partition columns would believe a `week=` higher up in the path."""
