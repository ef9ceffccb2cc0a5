"""What was counted of a week, kept beside the store, so that a week that did not change is not counted again.

What a week's attempts come to depends on the jobs that count in it and on the order of their builds, and on nothing
else: an ingest is drawn at random and its rows never change, whatever file they lie in. So a rollup's name is a digest
of exactly these, and of the statements. Every part of a history that asks for the same jobs in the same order finds the
same rollup, over compactions, new weeks and other windows; and no change can leave a wrong one behind, as it asks by
another name. Places are counted from the week's first build, so that builds before it move nothing.

The attempts of a week that failed lie here as well, under the names of its files alone (see `bad`).

Whole answers are kept too, under a digest of the question, the statements and the names of all files of the state that
was asked: files never change, so the same question to the same state is not counted at all. Finished texts lie here in
the same way (see `pages`), so that it is not even rated again.

Rollups lie in the store's folder `_rollups`, which Delta and every reader of it leave alone: Parquet, each behind a
checksum (see `sealed`). They are a convenience: where they cannot be written, or came to harm, all is counted. A store
in a bucket has none.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from flake_report.model.upkeep import Vacuumed

from .columns import numbers
from .sealed import content_of, put

if TYPE_CHECKING:
    import pyarrow.compute as pc

    from .duck import Duck

FOLDER = "_rollups"

_FORMAT = "4"
"""Raised when a rollup's tables, or the way in which they are joined, change."""

ANSWER = "answer-"
"""Begins the names of whole answers: each ingest makes new ones, so few are kept."""

_WRITTEN = b"written"
"""The key, in each file, of a text that all files of one writing have."""

_ANSWERS = 60
"""Of some four commands that ask all there is to ask."""

_GROUP = 1 << 16
"""Rows that are read or passed over as one, where few of a table's are asked for."""

KEPT_ROWS = 100_000
"""Attempts of a week that are worth a rollup; fewer are counted as fast as one is read."""


class Rollups:
    """The rollups of one store, and the engine that joins them."""

    def __init__(self, root: Path, duck: Duck, later: Callable[[Callable[[], None]], None] | None = None) -> None:
        """`later` has something written when it is convenient; nobody waits for it then."""
        self._folder = root / FOLDER
        self._duck = duck
        self._later = later or (lambda write: write())

    def load(self, name: str, tables: Iterable[str], keep: pc.Expression | None = None) -> dict[str, pa.Table]:
        """The tables of a rollup, or those of their rows that `keep` keeps; none where it is not there whole."""
        try:
            found = {table: _rows(content_of(self._path(name, table)), keep) for table in tables}
        except OSError:
            return {}
        for table in found:
            with suppress(OSError):
                os.utime(self._path(name, table))  # it is in use: see `sweep`
        return found if together(found.values()) else {}

    def show(self, name: str, tables: Iterable[str]) -> bool:
        """Views `kept_<table>` of a rollup's tables; False where it is not there whole, and then no view is made."""
        found = self.load(name, tables)
        for table, rows in found.items():
            self._duck.load(f"kept_{table}", rows)
        return bool(found)

    def keep(self, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Write a rollup for the next time. Each of its files appears whole; a reader takes all of them or none.

        Two processes may write it at once, each with its own numbers of tests: their files are told apart by a mark.
        """
        self._later(partial(self._write, name, tables))

    def keep_answer(self, name: str, tables: Mapping[str, pa.Table]) -> None:
        """Write a whole answer for the next time; those that were used least lately go."""
        self.keep(name, tables)
        self._later(partial(drop_unused, self._folder, ANSWER, _ANSWERS))

    def _write(self, name: str, tables: Mapping[str, pa.Table]) -> None:
        mark = {_WRITTEN: secrets.token_hex(16)}
        with suppress(OSError):
            for table, rows in tables.items():
                put(self._path(name, table), _parquet(rows.replace_schema_metadata(mark)))

    def _path(self, name: str, table: str) -> Path:
        return self._folder / f"{name}.{table}.sealed"


def together(tables: Iterable[pa.Table]) -> bool:
    """Whether these tables of a rollup were written by one process: numbers mean nothing beside those of another."""
    return len({(table.schema.metadata or {}).get(_WRITTEN) for table in tables}) <= 1


def _parquet(rows: pa.Table) -> memoryview:
    written = pa.BufferOutputStream()
    pq.write_table(rows, written, compression="zstd", compression_level=1, row_group_size=_GROUP)
    return memoryview(written.getvalue())


def _rows(parquet: memoryview, keep: pc.Expression | None) -> pa.Table:
    """The rows of one file. All of them come without a dataset, by way of which `pq.read_table` loads pandas."""
    held = pa.py_buffer(parquet)
    if keep is None:
        return pq.ParquetFile(pa.BufferReader(held)).read()
    from pyarrow.dataset import ParquetFileFormat  # noqa: PLC0415  # see above

    return ParquetFileFormat().make_fragment(held).to_table(filter=keep)


def drop_unused(folder: Path, prefix: str, most: int) -> None:
    """Of the names that begin so, keep so many: those that were used least lately go, each with all its files."""
    by_use: dict[str, float] = {}
    for path in folder.glob(f"{prefix}*.*"):
        with suppress(OSError):
            by_use[path.name.partition(".")[0]] = path.stat().st_mtime
    for old in sorted(by_use, key=lambda each: -by_use[each])[most:]:
        for path in folder.glob(f"{old}.*"):
            with suppress(OSError):  # another user's, or already gone
                path.unlink()


def sweep(root: Path, hours: int) -> Vacuumed:
    """Take away the rollups and pages of a store that nobody used for so long."""
    taken: list[int] = []
    for path in (root / FOLDER).glob("*.*"):
        with suppress(OSError):
            status = path.stat()
            if time.time() - status.st_mtime >= hours * 3600:
                path.unlink()
                taken.append(status.st_size)
    return Vacuumed(len(taken), sum(taken))


def digest(jobs: pa.Table) -> str:
    """What tells these jobs from all others, for a rollup: their `ingest`, `place` and `week_number`."""
    found = hashlib.sha256()
    for column in ("ingest", "place", "week_number"):
        found.update(numbers(jobs[column]).tobytes())
    return found.hexdigest()


def answer_name(statements: Iterable[str], question: str, files: Iterable[str]) -> str:
    """The name of the answer that these statements give to a question about the state that these files make up."""
    return named(ANSWER, (*statements, question, *sorted(files)))


def named(prefix: str, texts: Iterable[str]) -> str:
    """A name that begins so, and that no other texts, nor the same in another order, have."""
    found = hashlib.sha256()
    for text in (_FORMAT, *texts):
        found.update(f"{len(text)} {text}\n".encode())
    return prefix + found.hexdigest()[:40]
