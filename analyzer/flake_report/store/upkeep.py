"""What is known of a store itself, and its files that no commit names."""

from __future__ import annotations

from deltalake import DeltaTable

from flake_report.model.upkeep import StoreInfo, TableSize, Vacuumed

from .delta import files
from .duck import Duck
from .layout import LAYOUT_KEY, TABLES
from .root import Root
from .superseded import Superseded

RETENTION = 24
"""Hours for which files are kept that no commit names any more: a reader may still be at an older state."""

_READERS = """
SELECT parser_version AS parser, signatures_version AS signatures, fingerprint_version AS fingerprint, count(*) AS jobs
FROM stored_jobs GROUP BY ALL ORDER BY jobs DESC, parser, signatures, fingerprint
"""


def info(root: Root, table: DeltaTable) -> StoreInfo:
    """A store in numbers; reads which ingest each row belongs to, and no more."""
    found = files(root, table)
    superseded = Superseded(found)
    sizes = {}
    for kind in TABLES:
        inside = [file for week in found.get(kind, {}).values() for file in week]
        sizes[kind] = TableSize(
            rows=sum(file.rows for file in inside),
            superseded=sum(superseded.count(kind, file) for file in inside),
            files=len(inside),
            size=sum(file.size for file in inside),
        )
    duck = Duck()
    duck.show("stored_jobs", "jobs", [file for week in found.get("jobs", {}).values() for file in week])
    readers = duck.answer(_READERS).to_pylist()
    unnamed = vacuum(root, table, hours=0, dry_run=True)
    return StoreInfo(
        path=str(root),
        layout=int(table.metadata().configuration[LAYOUT_KEY] or 0),
        version=table.version(),
        tables=sizes,
        weeks=tuple(sorted({week for weeks in found.values() for week in weeks})),
        readers={(row["parser"], row["signatures"], row["fingerprint"]): row["jobs"] for row in readers},
        unnamed=unnamed.files,
        unnamed_size=unnamed.size,
    )


def vacuum(root: Root, table: DeltaTable, *, hours: int = RETENTION, dry_run: bool = False) -> Vacuumed:
    """Take away files that no commit has named for so many hours: merged ones, and those of killed ingests.

    Fewer hours than readers and ingests take would take files from under them.
    """
    names = table.vacuum(hours, dry_run=True, enforce_retention_duration=False, full=True)
    sizes = [size for name in names if (size := root.size(name)) is not None]  # the log names those long gone, too
    if not dry_run and sizes:
        table.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
    return Vacuumed(len(sizes), sum(sizes))
