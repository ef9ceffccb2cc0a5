"""What runs the counting statements: the few things that an engine can do, and the engines by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pyarrow as pa

from flake_report.errors import FlakeReportError

from .delta import DataFile


class Engine(Protocol):
    """A place for named views and tables, where statements run. It serves one look at a store, from one thread."""

    rows_at_once: int
    """Attempts that one statement should meet: more are counted some weeks after the others."""

    damage: tuple[type[Exception], ...]
    """What it raises where a file is gone or no Parquet."""

    def show(self, view: str, kind: str, files: Sequence[DataFile]) -> None:
        """A view of one kind's rows in these files, with their week."""

    def make(self, name: str, query: str) -> None:
        """A table of what the query answers now, in place of what had this name."""

    def begin(self, name: str, schema: pa.Schema) -> None:
        """An empty table that `add` fills."""

    def add(self, name: str, query: str) -> None:
        """What the query answers now, below the rows of a table that was begun; columns go by name."""

    def drop(self, names: Sequence[str]) -> None:
        """Free what these tables hold, where they are there; nobody asks for them again."""

    def answer(self, query: str) -> pa.Table:
        """What the query answers, as Arrow."""

    def interrupt(self) -> None:
        """Stop the statement that another thread runs, if one does; it fails there."""

    def relation(self, query: str) -> Any:
        """What the query answers, as the engine's own object that a person works on with."""


DEFAULT = "duckdb"


def maker(name: str) -> Callable[[], Engine]:
    """What makes the engine of this name anew for each look: `duckdb`, `spark`, or `spark=MASTER`.

    Raises `FlakeReportError` for another name, and where Spark's cluster cannot be had.
    """
    if name == DEFAULT:
        from .duck import Duck  # noqa: PLC0415  # who asks Spark needs no DuckDB

        return Duck
    master = master_of(name)
    from .spark import Spark, session  # noqa: PLC0415  # an extra

    running = session(master)
    return lambda: Spark(running)


def master_of(name: str) -> str:
    """The cluster that a name of Spark's engine says; empty for Spark's own settings. Raises as `maker` does."""
    found = re.fullmatch(rf"spark(?:=({_MASTER}))?", name)
    if not found:
        raise FlakeReportError(
            f"engine {name}: unknown; there are duckdb, spark, and spark=MASTER such as spark=spark://host:7077"
        )
    return found[1] or ""


_MASTER = r"local(?:\[[\d*,]+\])?|spark://[^\s/]+:\d+|yarn|k8s://\S+"
"""What Spark takes; another name would only fail in Java, after seconds."""
