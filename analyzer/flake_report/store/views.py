"""The tables that people see, as views for engines that read Delta tables by themselves: no flake-report is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .layout import TABLES


class Dialect(NamedTuple):
    """How an engine names the table at an address, and quotes a column; a quote inside a name is doubled in both."""

    table: str
    column: str


DIALECTS = {"duckdb": Dialect("delta_scan('{}')", '"'), "databricks": Dialect("delta.`{}`", "`")}
"""DuckDB with its extension `delta`; Databricks, and Spark with Delta Lake."""

_NEWEST = {"jobs": "job", "builds": "org, pipeline, build"}
"""Of these the last committed ingest counts; every other row counts if its job's ingest does."""


def views(address: str, engine: str) -> Iterator[str]:
    """A `CREATE VIEW` statement for each table, in an order in which they can be run."""
    dialect = DIALECTS[engine]
    quote = "'" if "'" in dialect.table else "`"
    source = dialect.table.format(address.replace(quote, quote * 2))
    for kind in sorted(TABLES, key=lambda kind: kind not in _NEWEST):
        columns = ", ".join(
            f"{dialect.column}{name}{dialect.column}" for name in (*TABLES[kind], "week") if name != "commit_version"
        )
        yield f"CREATE OR REPLACE VIEW {kind} AS SELECT {columns} FROM {_counting(kind, source)}"  # noqa: S608 - ours


def _counting(kind: str, source: str) -> str:
    if kind not in _NEWEST:
        return f"{source} WHERE kind = '{kind}' AND ingest IN (SELECT ingest FROM jobs)"  # noqa: S608 - names are ours
    age = f"row_number() OVER (PARTITION BY {_NEWEST[kind]} ORDER BY commit_version DESC, ingest)"
    return f"(SELECT *, {age} AS age FROM {source} WHERE kind = '{kind}') aged WHERE age = 1"  # noqa: S608
