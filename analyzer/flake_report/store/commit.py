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
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from flake_report.errors import FlakeReportError, reason
from flake_report.model.record import JobRecord

from .layout import TABLES
from .root import Root
from .rows import table_of
from .transaction import committed, discard, write_file

ORDERED = tuple(kind for kind, columns in TABLES.items() if "commit_version" in columns)
"""Kinds whose rows say which commit brought them."""

_TRIES = 1000  # where each wins one time in twenty, all of them fail once in 10^22 commits
_LONGEST_PAUSE = 0.1  # seconds; about what one commit takes beside ten other writers

Rows = dict[tuple[str, str], pa.Table]
"""(kind, week) to the rows that lie there."""


class Committed(NamedTuple):
    """The number of a commit, and how many rows of each kind it brought."""

    version: int
    rows: dict[str, int]


def commit(root: Root, table: DeltaTable, records: Sequence[JobRecord]) -> Committed:
    """Add all rows of these jobs, each given once, in one commit.

    `table` is then at the state with these rows in it. Raises `FlakeReportError` where the folder cannot be written.
    """
    rows = _rows(records)
    large = {place: part for place, part in rows.items() if place[0] not in ORDERED}
    small = {place: part for place, part in rows.items() if place[0] in ORDERED}
    try:
        lasting = [write_file(root, place, part) for place, part in large.items()]
        for _ in range(_TRIES):
            table.update_incremental()
            version = table.version() + 1
            marks = [write_file(root, place, numbered(part, version)) for place, part in small.items()]
            if committed(root, table, lasting + marks, version):
                table.update_incremental()
                break
            discard(root, marks)
            time.sleep(random.uniform(0, _LONGEST_PAUSE))  # noqa: S311 - no secret
        else:
            raise FlakeReportError(f"store {root}: is too busy, {_TRIES} tries failed; ingest again later")
    except (OSError, DeltaError) as error:
        raise FlakeReportError(
            f"store {root}: cannot be written ({reason(error)}); mend that and ingest again"
        ) from error
    counts = {kind: sum(part.num_rows for place, part in rows.items() if place[0] == kind) for kind in TABLES}
    return Committed(version, counts)


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
