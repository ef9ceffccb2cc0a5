"""The next version of the table, exactly: files that are written first, and the one commit that names them.

A process that is killed in between leaves files that no commit names: nobody reads them, and vacuum takes them away.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from .layout import PARTITIONS

ROW_GROUP = 122_880
"""Rows that a reader takes or skips at once: DuckDB's own size, so that each is read by one thread."""


def write_file(root: Path, place: tuple[str, str], part: pa.Table, *, new_rows: bool = True) -> AddAction:
    """One new file of a (kind, week), under a name that nobody else has; it counts once a commit names it.

    `new_rows` is False where the table has all of them already, in files that the same commit removes.
    """
    kind, in_week = place
    path = f"kind={kind}/week={in_week}/{uuid.uuid4().hex}.zstd.parquet"
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(part, target, compression="zstd", compression_level=1, row_group_size=ROW_GROUP)
    values: dict[str, str | None] = {"kind": kind, "week": in_week}
    stats = json.dumps({"numRecords": part.num_rows})
    status = target.stat()
    return AddAction(path, status.st_size, values, int(status.st_mtime * 1000), data_change=new_rows, stats=stats)


def discard(root: Path, files: Iterable[AddAction]) -> None:
    """Take away files that no commit will name."""
    for file in files:
        (root / file.path).unlink(missing_ok=True)


def committed(root: Path, table: DeltaTable, actions: Sequence[AddAction | RemoveAction], version: int) -> bool:
    """Whether these files became this version of the table; False where another commit took the number.

    Delta's own retry would move a commit to a later number behind our back, so it is switched off. Where Delta reports
    a failure, the log decides whether the commit went through.
    """
    try:
        table.create_write_transaction(
            list(actions),
            mode="append",
            schema=table.schema(),
            partition_by=list(PARTITIONS),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    except CommitFailedError:
        entry = root / "_delta_log" / f"{version:020d}.json"
        return entry.exists() and actions[-1].path in entry.read_text(encoding="utf-8")  # the commit, not its answer
    return True
