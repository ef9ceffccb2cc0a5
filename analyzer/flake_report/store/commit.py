"""Adding records to a store: one Delta commit for all rows of a batch of jobs.

A job's place among several ingests of it is the number of the Delta commit that brought it, written into its jobs row.
Delta gives that number only when the commit succeeds, so the row is written for the number that comes next, and the
commit is tried for exactly that number: whoever comes second writes the two small files (jobs, builds) again for the
number after it. The large files are written once, whatever happens. Delta's own retry would move a commit to a later
number behind our back, so it is switched off.

Where Delta reports a failure, the log decides whether the commit went through. A process that is killed leaves files
that no commit names: nobody reads them.
"""

from __future__ import annotations

import json
import random
import secrets
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction

from flake_report.errors import FlakeReportError
from flake_report.model.record import JobRecord

from .delta import first_line
from .layout import PARTITIONS, TABLES
from .rows import table_of, week

ORDERED = tuple(kind for kind, columns in TABLES.items() if "commit_version" in columns)
"""Kinds whose rows say which commit brought them."""

_TRIES = 1000  # where each wins one time in twenty, all of them fail once in 10^22 commits
_LONGEST_PAUSE = 0.1  # seconds; about what one commit takes beside ten other writers

Rows = dict[tuple[str, str], pa.Table]
"""(kind, week) to the rows that lie there."""


def commit(root: Path, table: DeltaTable, records: Sequence[JobRecord]) -> dict[str, int]:
    """Add all rows of these jobs, each given once, in one commit; answers how many rows of each kind.

    `table` is then at the state with these rows in it. Raises `FlakeReportError` where the folder cannot be written.
    """
    rows = _rows(records)
    large = {place: part for place, part in rows.items() if place[0] not in ORDERED}
    small = {place: part for place, part in rows.items() if place[0] in ORDERED}
    try:
        lasting = [_write(root, place, part) for place, part in large.items()]
        for _ in range(_TRIES):
            table.update_incremental()
            version = table.version() + 1
            marks = [_write(root, place, numbered(part, version)) for place, part in small.items()]
            if _committed(root, table, lasting + marks, version):
                table.update_incremental()
                break
            for mark in marks:
                (root / mark.path).unlink()
            time.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311 - no secret
        else:
            raise FlakeReportError(f"store {root}: is too busy, {_TRIES} tries failed; ingest again later")
    except (OSError, DeltaError) as error:
        raise FlakeReportError(
            f"store {root}: cannot be written ({first_line(error)}); mend that and ingest again"
        ) from error
    return {kind: sum(part.num_rows for place, part in rows.items() if place[0] == kind) for kind in TABLES}


def _rows(records: Sequence[JobRecord]) -> Rows:
    """All rows by place; of a build that several jobs tell of, the last one's word."""
    named = [(secrets.randbits(62), record) for record in records]
    builds = {(record.build.org, record.build.pipeline, record.build.key): (at, record) for at, record in named}
    parts: Rows = {}
    for kind in TABLES:
        weeks: dict[str, list[tuple[int, JobRecord]]] = defaultdict(list)
        for at, record in builds.values() if kind == "builds" else named:
            weeks[week(record.build.created_at)].append((at, record))
        parts |= {(kind, each): table_of(kind, inside) for each, inside in weeks.items()}
    return {place: part for place, part in parts.items() if part.num_rows}


def numbered(part: pa.Table, version: int) -> pa.Table:
    index = part.schema.get_field_index("commit_version")
    return part.set_column(index, part.schema.field(index), pa.array([version] * part.num_rows, pa.int64()))


def _write(root: Path, place: tuple[str, str], part: pa.Table) -> AddAction:
    """One new file, under a name that nobody else has; it counts once a commit names it."""
    kind, in_week = place
    path = f"kind={kind}/week={in_week}/{uuid.uuid4().hex}.zstd.parquet"
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(part, target, compression="zstd", compression_level=1)
    values: dict[str, str | None] = {"kind": kind, "week": in_week}
    stats = json.dumps({"numRecords": part.num_rows})
    status = target.stat()
    return AddAction(path, status.st_size, values, int(status.st_mtime * 1000), data_change=True, stats=stats)


def _committed(root: Path, table: DeltaTable, files: list[AddAction], version: int) -> bool:
    """Whether these files became this version of the table; False where another commit took the number."""
    try:
        table.create_write_transaction(
            list(files),
            mode="append",
            schema=table.schema(),
            partition_by=list(PARTITIONS),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    except CommitFailedError:
        entry = root / "_delta_log" / f"{version:020d}.json"
        return entry.exists() and files[-1].path in entry.read_text(encoding="utf-8")  # the commit, not its answer
    return True
