"""The Delta table under a store: made, opened, and refused with one sentence where it is not ours to read."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import DeltaError, TableNotFoundError

from flake_report.errors import FlakeReportError

from .layout import CONFIGURATION, LAYOUT, LAYOUT_KEY, PARTITIONS, table_schema


class DataFile(NamedTuple):
    """One Parquet file of the table: where it lies, what it holds, its size in bytes, and its name in the log."""

    path: str
    rows: int
    size: int
    name: str


Files: TypeAlias = dict[str, dict[str, list[DataFile]]]
"""Kind to week to the files that hold its rows."""


def located(path: str) -> Path:
    """The folder that a user named. Raises `FlakeReportError` for an address, and for a path that Delta garbles."""
    if "://" in path:
        raise FlakeReportError(f"store {path}: is an address, and a store is a folder; name a folder")
    root = Path(path).resolve()
    if re.search("%[0-9A-Fa-f]{2}", str(root)):  # Delta reads it as an escape, and would open another folder
        raise FlakeReportError(f"store {root}: a store's path cannot hold `%` before two digits; name another path")
    return root


def open_table(root: Path) -> DeltaTable:
    """The newest state of the table at `root`. Raises `FlakeReportError` where there is none that we can read."""
    if not root.exists():
        raise FlakeReportError(f"store {root}: does not exist; `flake-report ingest SOURCE --store {root}` makes it")
    if not root.is_dir():
        raise FlakeReportError(f"store {root}: is a file, and a store is a folder; name another path")
    try:
        table = DeltaTable(root)
    except TableNotFoundError:
        raise FlakeReportError(
            f"store {root}: this folder is no store; name the folder that `flake-report ingest --store` made"
        ) from None
    except (DeltaError, OSError) as error:
        raise unreadable(root, error) from error
    _check_layout(root, table)
    return table


def create_or_open_table(root: Path) -> DeltaTable:
    """The table at `root`, made where nothing is yet; of several processes that make it at once, one does."""
    if root.is_file():
        return open_table(root)
    if root.is_dir() and any(each.name != "_delta_log" for each in root.iterdir()) and not _is_table(root):
        raise FlakeReportError(f"store {root}: this folder is no store and not empty; name a new folder")
    if not _is_table(root):
        try:
            root.mkdir(parents=True, exist_ok=True)
            DeltaTable.create(
                root,
                Schema.from_arrow(table_schema()),
                mode="ignore",
                partition_by=list(PARTITIONS),
                name="flake-report",
                description="Builds, jobs and test attempts of CI, kept by flake-report",
                configuration=CONFIGURATION,
                raise_if_key_not_exists=False,  # our own key is none that Delta knows
                commit_properties=CommitProperties(max_commit_retries=0),  # who comes second finds it made
            )
        except OSError as error:
            raise FlakeReportError(f"store {root}: cannot be made ({first_line(error)}); name another path") from error
        except DeltaError:
            if not _is_table(root):
                raise
    return open_table(root)


def files(root: Path, table: DeltaTable) -> Files:
    """The files of the state that `table` is at."""
    actions = pa.table(table.get_add_actions(flatten=True))
    found: Files = defaultdict(lambda: defaultdict(list))
    if actions.num_rows:
        names = ("partition.kind", "partition.week", "path", "num_records", "size_bytes")
        for kind, week, path, rows, size in sorted(zip(*(actions[name].to_pylist() for name in names), strict=True)):
            found[kind][week].append(DataFile(str(root / unquote(path)), rows or 0, size, path))
    return found


def unreadable(root: Path, error: Exception) -> FlakeReportError:
    """What to say of a store whose files are damaged or gone."""
    return FlakeReportError(f"store {root}: cannot be read ({first_line(error)}); restore it, or ingest into a new one")


def _is_table(root: Path) -> bool:
    return DeltaTable.is_deltatable(str(root))


def _check_layout(root: Path, table: DeltaTable) -> None:
    found = table.metadata().configuration.get(LAYOUT_KEY)
    if found is None:
        raise FlakeReportError(f"store {root}: this is a Delta table of something else; name a store of flake-report")
    if found != str(LAYOUT):
        raise FlakeReportError(
            f"store {root}: has layout {found}, this flake-report reads {LAYOUT}; install a newer flake-report"
        )


def first_line(error: Exception) -> str:
    """An error of a library in one line."""
    return str(error).strip().partition("\n")[0]
