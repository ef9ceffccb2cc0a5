"""What was counted of a week, kept beside the store, so that a week that did not change is not counted again.

What a week's attempts come to depends on the jobs that count in it and on the order of their builds, and on nothing
else: an ingest is drawn at random and its rows never change, whatever file they lie in. So a rollup's name is a digest
of exactly these, and of the statements. Every part of a history that asks for the same jobs in the same order finds the
same rollup, over compactions, new weeks and other windows; and no change can leave a wrong one behind, as it asks by
another name. Places are counted from the week's first build, so that builds before it move nothing.

Rollups lie in the store's folder `_rollups`, which Delta and every reader of it leave alone. They are a convenience:
where they cannot be written, all is counted each time. A store in a bucket has none.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from flake_report.model.upkeep import Vacuumed

from .duck import Duck

FOLDER = "_rollups"

_FORMAT = "1"
"""Raised when a rollup's tables, or the way in which they are joined, change."""

KEPT_ROWS = 100_000
"""Attempts of a week that are worth a rollup; fewer are counted as fast as one is read."""


class Rollups:
    """The rollups of one store, and the engine that joins them."""

    def __init__(self, root: Path, duck: Duck) -> None:
        self._folder = root / FOLDER
        self._duck = duck

    def show(self, name: str, tables: Iterable[str]) -> bool:
        """Views `kept_<table>` of a rollup's tables; False where it is not there whole, and then no view is made."""
        try:
            found = {table: pq.read_table(self._path(name, table), partitioning=None) for table in tables}
        except (OSError, pa.ArrowInvalid):
            return False
        for table, rows in found.items():
            self._duck.load(f"kept_{table}", rows)
            with suppress(OSError):
                os.utime(self._path(name, table))  # it is in use: see `sweep`
        return True

    def keep(self, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Write a rollup for the next time. Each of its files appears whole; a reader takes all of them or none."""
        with suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            for table, rows in tables.items():
                unfinished = self._folder / f"{secrets.token_hex(8)}.unfinished"
                pq.write_table(rows, unfinished, compression="zstd", compression_level=1)
                unfinished.replace(self._path(name, table))

    def _path(self, name: str, table: str) -> Path:
        return self._folder / f"{name}.{table}.parquet"


def sweep(root: Path, hours: int) -> Vacuumed:
    """Take away the rollups of a store that nobody used for so long."""
    taken: list[int] = []
    for path in (root / FOLDER).glob("*.*"):
        with suppress(OSError):
            status = path.stat()
            if time.time() - status.st_mtime >= hours * 3600:
                path.unlink()
                taken.append(status.st_size)
    return Vacuumed(len(taken), sum(taken))


def digest(statements: Iterable[str], jobs: pa.Table) -> str:
    """The name of the rollup that these statements make of these jobs: their `ingest`, `place` and `counted_week`."""
    found = hashlib.sha256()
    for text in (_FORMAT, *statements, "".join(jobs["counted_week"].to_pylist())):
        found.update(f"{len(text)} {text}\n".encode())
    for column in ("ingest", "place"):
        found.update(jobs[column].to_numpy().tobytes())
    return found.hexdigest()[:40]
