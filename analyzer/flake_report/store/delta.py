"""The Delta table under a store: made, opened, and refused with one sentence where it is not ours to read."""

from __future__ import annotations

from pathlib import Path

from deltalake import DeltaTable, Schema
from deltalake.exceptions import DeltaError, TableNotFoundError

from flake_report.errors import FlakeReportError

from .layout import CONFIGURATION, LAYOUT, LAYOUT_KEY, PARTITIONS, table_schema


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
        raise FlakeReportError(f"store {root}: cannot be read ({_first_line(error)}); ingest into a new one") from error
    _check_layout(root, table)
    return table


def create_or_open_table(root: Path) -> DeltaTable:
    """The table at `root`, made where nothing is yet; of several processes that make it at once, one does."""
    if root.is_dir() and any(root.iterdir()) and not (root / "_delta_log").is_dir():
        raise FlakeReportError(f"store {root}: this folder is no store and not empty; name a new folder")
    if not (root / "_delta_log").is_dir() and (not root.exists() or root.is_dir()):
        try:
            DeltaTable.create(
                root,
                Schema.from_arrow(table_schema()),
                mode="ignore",
                partition_by=list(PARTITIONS),
                name="flake-report",
                description="Builds, jobs and test attempts of CI, kept by flake-report",
                configuration=CONFIGURATION,
                raise_if_key_not_exists=False,  # our own key is none that Delta knows
            )
        except OSError as error:
            raise FlakeReportError(f"store {root}: cannot be made ({_first_line(error)}); name another path") from error
        except DeltaError:
            if not DeltaTable.is_deltatable(str(root)):
                raise
    return open_table(root)


def _check_layout(root: Path, table: DeltaTable) -> None:
    found = table.metadata().configuration.get(LAYOUT_KEY)
    if found is None:
        raise FlakeReportError(f"store {root}: this is a Delta table of something else; name a store of flake-report")
    if found != str(LAYOUT):
        raise FlakeReportError(
            f"store {root}: has layout {found}, this flake-report reads {LAYOUT}; install a newer flake-report"
        )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
