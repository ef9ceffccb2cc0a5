"""The next version of the table, exactly: files that are written first, and the one commit that names them.

A process that is killed in between leaves files that no commit names: nobody reads them, and vacuum takes them away.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from io import IOBase

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from .layout import PARTITIONS
from .root import Root

_ATTEMPTS = 250_000
"""Attempts that a reader takes or skips at once, each group by one thread: half a full file, so that two can read one.

Each group has its own list of the names in it, and tens of thousands of tests are in any. Who asks for a few jobs reads
little else than these lists, so DuckDB's own size, half of this, makes that a third slower.
"""

_OTHERS = 50_000
"""The same for rows of other kinds: a week has few of them, and yet several threads should read them."""

_NAMES = 1 << 23
"""Bytes up to which the different values of a column are listed once for a group, and each row has a value's number.

The names of 50,000 tests are two million bytes. pyarrow gives up at one, and then writes each name out in each row.
"""


def write_file(root: Root, place: tuple[str, str], part: pa.Table, *, new_rows: bool = True) -> AddAction:
    """One new file of a (kind, week), under a name that nobody else has; it counts once a commit names it.

    `new_rows` is False where the table has all of them already, in files that the same commit removes.
    """
    kind, in_week = place
    path = f"kind={kind}/week={in_week}/{uuid.uuid4().hex}.zstd.parquet"

    def fill(file: IOBase) -> None:
        moments = [field.name for field in part.schema if pa.types.is_timestamp(field.type)]
        pq.write_table(
            part,
            file,
            compression="zstd",
            compression_level=1,
            row_group_size=_ATTEMPTS if kind == "attempts" else _OTHERS,
            dictionary_pagesize_limit=_NAMES,
            use_dictionary=[name for name in part.column_names if name not in moments],
            column_encoding=dict.fromkeys(moments, "DELTA_BINARY_PACKED"),  # hardly two alike, each near the last
        )

    written = root.write(path, fill)
    values: dict[str, str | None] = {"kind": kind, "week": in_week}
    stats = json.dumps({"numRecords": part.num_rows})
    return AddAction(path, written.size, values, written.at, data_change=new_rows, stats=stats)


def discard(root: Root, files: Iterable[AddAction]) -> None:
    """Take away files that no commit will name."""
    for file in files:
        root.remove(file.path)


def committed(root: Root, table: DeltaTable, actions: Sequence[AddAction | RemoveAction], version: int) -> bool:
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
        entry = root.text(f"_delta_log/{version:020d}.json")
        return entry is not None and actions[-1].path in entry  # the commit, not its answer
    return True
