"""The Delta table under a store: made, opened, and refused with one sentence where it is not ours to read."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import DeltaError, TableNotFoundError

from flake_report.errors import FlakeReportError, reason

from .layout import CONFIGURATION, LAYOUT, LAYOUT_KEY, PARTITIONS, table_schema
from .root import Root


class DataFile(NamedTuple):
    """One Parquet file of the table: where it lies, what it holds, its size in bytes, and its name in the log."""

    path: str
    rows: int
    size: int
    name: str


Files: TypeAlias = dict[str, dict[str, list[DataFile]]]
"""Kind to week to the files that hold its rows."""


def open_table(root: Root) -> DeltaTable:
    """The newest state of the store at `root`. Raises `FlakeReportError` where there is none that we can read."""
    table = load_table(root)
    found = layout_of(root, table)
    if found < LAYOUT:
        raise FlakeReportError(
            f"store {root}: has layout {found}, this flake-report needs {LAYOUT};"
            f" `flake-report store upgrade --store {root}` brings it there and keeps its rows"
        )
    return table


def load_table(root: Root) -> DeltaTable:
    """The newest state of the Delta table at `root`, whatever its layout; raises as `open_table` does."""
    if not root.exists():
        raise FlakeReportError(f"store {root}: does not exist; `flake-report ingest SOURCE --store {root}` makes it")
    try:
        table = DeltaTable(root.address)
    except TableNotFoundError:
        raise FlakeReportError(
            f"store {root}: this folder is no store; name the folder that `flake-report ingest --store` made"
        ) from None
    except (DeltaError, OSError) as error:
        if "Unsupported" in str(error):  # a reader's version, or a feature: the protocol's own way to be refused
            raise FlakeReportError(
                f"store {root}: was written in a newer way ({reason(error)}); install a newer flake-report"
            ) from error
        raise unreadable(root, error) from error
    return table


def create_or_open_table(root: Root) -> DeltaTable:
    """The table at `root`, made where nothing is yet; of several processes that make it at once, one does."""
    try:
        if not _is_table(root):
            _create_table(root)
    except (DeltaError, OSError) as error:
        raise FlakeReportError(f"store {root}: cannot be made ({reason(error)}); {root.if_unmade}") from error
    return open_table(root)


def _create_table(root: Root) -> None:
    if root.occupied():
        raise FlakeReportError(f"store {root}: this folder is no store and not empty; name a new folder")
    root.make()
    try:
        DeltaTable.create(
            root.address,
            Schema.from_arrow(table_schema()),
            mode="ignore",
            partition_by=list(PARTITIONS),
            name="flake-report",
            description="Builds, jobs and test attempts of CI, kept by flake-report",
            configuration=CONFIGURATION,
            raise_if_key_not_exists=False,  # our own key is none that Delta knows
            commit_properties=CommitProperties(max_commit_retries=0),  # who comes second finds it made
        )
    except DeltaError:
        if not _is_table(root):
            raise


def files(root: Root, table: DeltaTable) -> Files:
    """The files of the state that `table` is at."""
    stream = pa.RecordBatchReader.from_stream(table.get_add_actions(flatten=True))
    actions = stream.read_all()  # `pa.table` takes the same, and loads pandas to see that it is no frame
    found: Files = defaultdict(lambda: defaultdict(list))
    if actions.num_rows:
        names = ("partition.kind", "partition.week", "path", "num_records", "size_bytes")
        for kind, week, path, rows, size in sorted(zip(*(actions[name].to_pylist() for name in names), strict=True)):
            found[kind][week].append(DataFile(root.file(unquote(path)), rows or 0, size, path))
    return found


def unreadable(root: Root, error: Exception) -> FlakeReportError:
    """What to say of a store whose files are damaged, gone or out of reach."""
    return FlakeReportError(f"store {root}: cannot be read ({reason(error)}); {root.if_unreadable}")


def _is_table(root: Root) -> bool:
    return root.exists() and DeltaTable.is_deltatable(root.address)


def layout_of(root: Root, table: DeltaTable) -> int:
    """The number of the store's layout. Raises `FlakeReportError` for a newer one, and for a table that is no store."""
    found = table.metadata().configuration.get(LAYOUT_KEY)
    if found is None:
        raise FlakeReportError(f"store {root}: this is a Delta table of something else; name a store of flake-report")
    if not found.isdecimal() or int(found) > LAYOUT:
        raise FlakeReportError(
            f"store {root}: has layout {found}, this flake-report reads {LAYOUT}; install a newer flake-report"
        )
    return int(found)
