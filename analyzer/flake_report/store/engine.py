"""What runs the counting statements: the few things that an engine can do, and the engines by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa

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

    def answer(self, query: str) -> pa.Table:
        """What the query answers, as Arrow."""

    def relation(self, query: str) -> Any:
        """What the query answers, as the engine's own object that a person works on with."""
