"""Adding records to a store: one Delta commit for all rows of a batch of jobs.

A job's place among several ingests of it is the number of the Delta commit that brought it, written into its jobs row.
Delta gives that number only when the commit succeeds, so the row is written for the number that comes next, and the
commit is tried for exactly that number: whoever comes second writes the two small files (jobs, builds) again for the
number after it. The large files are written once, whatever happens.
"""

from __future__ import annotations

import random
import secrets
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction

from flake_report.errors import FlakeReportError, reason
from flake_report.model.record import JobRecord

from .layout import TABLES
from .root import Root
from .rows import table_of
from .transaction import committed, discard, write_file

ORDERED = tuple(kind for kind, columns in TABLES.items() if "commit_version" in columns)
"""Kinds whose rows say which commit brought them."""

_TRIES = 1000  # where each wins one time in twenty, all of them fail once in 10^22 commits
_BATCH = 100_000  # rows and kilobytes of text in one commit, counted together
_LONGEST_PAUSE = 0.1  # seconds; about what one commit takes beside ten other writers

Rows = dict[tuple[str, str], pa.Table]
"""(kind, week) to the rows that lie there."""


class Committed(NamedTuple):
    """The number of a commit, and how many rows of each kind it brought."""

    version: int
    rows: dict[str, int]


class Prepared(NamedTuple):
    """Rows of some jobs on their way into a store: large files that lie there, and rows that wait for their number."""

    files: list[AddAction]
    waiting: Rows
    rows: dict[str, int]


def commit(root: Root, table: DeltaTable, records: Sequence[JobRecord]) -> Committed:
    """Add all rows of these jobs, each given once, in one commit.

    `table` is then at the state with these rows in it. Raises `FlakeReportError` where the store cannot be written.
    """
    return land(root, table, prepare(root, records))


def prepare(root: Root, records: Sequence[JobRecord]) -> Prepared:
    """Write the large files of these jobs, each given once; nothing counts before it has landed. Raises as `commit`."""
    rows = _rows(records)
    with _writing(root):
        files = [write_file(root, place, part) for place, part in rows.items() if place[0] not in ORDERED]
    waiting = {place: part for place, part in rows.items() if place[0] in ORDERED}
    counts = {kind: sum(part.num_rows for place, part in rows.items() if place[0] == kind) for kind in TABLES}
    return Prepared(files, waiting, counts)


def land(root: Root, table: DeltaTable, prepared: Prepared) -> Committed:
    """The one commit that makes prepared rows count; raises as `commit`."""
    with _writing(root):
        for _ in range(_TRIES):
            table.update_incremental()
            version = table.version() + 1
            marks = [write_file(root, place, numbered(part, version)) for place, part in prepared.waiting.items()]
            if committed(root, table, prepared.files + marks, version):
                table.update_incremental()
                return Committed(version, prepared.rows)
            discard(root, marks)
            time.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311 - no secret
    raise FlakeReportError(f"store {root}: is too busy, {_TRIES} tries failed; ingest again later")


def together(parts: Sequence[Prepared]) -> Prepared:
    """Prepared rows as one, for one commit; of a job or build that comes in several, the last one's word."""
    newest = {
        (kind, name): at
        for at, part in enumerate(parts)
        for (kind, _), rows in part.waiting.items()
        for name in _names(kind, rows)
    }
    waiting: dict[tuple[str, str], list[pa.Table]] = defaultdict(list)
    for at, part in enumerate(parts):
        for (kind, week), rows in part.waiting.items():
            kept = pa.array([newest[kind, name] == at for name in _names(kind, rows)], pa.bool_())
            waiting[kind, week].append(rows.filter(kept))
    whole = {place: pa.concat_tables(rows) for place, rows in waiting.items()}
    counts = {kind: sum(part.rows[kind] for part in parts) for kind in TABLES}
    counts |= {kind: sum(rows.num_rows for place, rows in whole.items() if place[0] == kind) for kind in ORDERED}
    return Prepared([file for part in parts for file in part.files], whole, counts)


def _names(kind: str, rows: pa.Table) -> list[tuple[str, ...]]:
    """What tells the builds or jobs of these rows apart."""
    columns = {"builds": ("org", "pipeline", "build"), "jobs": ("job",)}[kind]
    return list(zip(*(rows[column].to_pylist() for column in columns), strict=True))


@contextmanager
def _writing(root: Root) -> Iterator[None]:
    try:
        yield
    except (OSError, DeltaError) as error:
        raise FlakeReportError(
            f"store {root}: cannot be written ({reason(error)}); mend that and ingest again"
        ) from error


def _rows(records: Sequence[JobRecord]) -> Rows:
    """All rows by place; of a build that several jobs tell of, the last one's word."""
    named = [(secrets.randbits(62), record) for record in records]
    builds = {(record.build.org, record.build.pipeline, record.build.key): (at, record) for at, record in named}
    parts: Rows = {}
    for kind in TABLES:
        weeks: dict[str, list[tuple[int, JobRecord]]] = defaultdict(list)
        for at, record in builds.values() if kind == "builds" else named:
            weeks[record.build.week].append((at, record))
        parts |= {(kind, each): table_of(kind, inside) for each, inside in weeks.items()}
    return {place: part for place, part in parts.items() if part.num_rows}


def numbered(part: pa.Table, version: int) -> pa.Table:
    index = part.schema.get_field_index("commit_version")
    return part.set_column(index, part.schema.field(index), pa.array([version] * part.num_rows, pa.int64()))


def in_batches(records: Iterable[JobRecord]) -> Iterator[list[JobRecord]]:
    """Records in groups of bounded size; of a job that comes twice in one group, the later stays."""
    batch: dict[str, JobRecord] = {}
    size = 0
    for record in records:
        batch.pop(record.job.id, None)
        batch[record.job.id] = record
        size += _size(record)
        if size >= _BATCH:
            yield list(batch.values())
            batch, size = {}, 0
    if batch:
        yield list(batch.values())


def _size(record: JobRecord) -> int:
    rows = 2 + len(record.attempts) + len(record.causes) + len(record.memory) + len(record.engines)
    return rows + sum(len(each.attempt.message) for each in record.attempts) // 1000
