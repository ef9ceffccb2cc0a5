"""Which stored rows still count, file by file: for upkeep, which works on files and not on questions."""

from __future__ import annotations

import pyarrow as pa

from .delta import DataFile, Files
from .duck import Duck
from .layout import TABLES
from .sql import statement


class Superseded:
    """The rows that newer ingests replaced, as far as the jobs and builds in these files tell.

    A row that is superseded in one state of a store is so in every later one: what follows from it cannot age.
    """

    def __init__(self, known: Files) -> None:
        self._duck = Duck()
        for kind in ("jobs", "builds"):
            self._duck.show(f"stored_{kind}", kind, [file for week in known.get(kind, {}).values() for file in week])
            self._duck.make(f"newest_{kind}", statement(f"newest_{kind}"))

    def count(self, kind: str, file: DataFile) -> int:
        """How many rows of this file are superseded."""
        found: int = self._ask("count(*) AS rows", kind, file, "NOT IN")["rows"][0].as_py()
        return found

    def rest(self, kind: str, file: DataFile) -> pa.Table:
        """The rows of this file that still count, in the file's columns."""
        return self._ask(", ".join(f'"{column}"' for column in TABLES[kind]), kind, file, "IN")

    def _ask(self, columns: str, kind: str, file: DataFile, among: str) -> pa.Table:
        self._duck.show("stored", kind, [file])
        newest = "newest_builds" if kind == "builds" else "newest_jobs"
        query = f"SELECT {columns} FROM stored WHERE ingest {among} (SELECT ingest FROM {newest})"  # noqa: S608 - ours
        return self._duck.answer(query)
