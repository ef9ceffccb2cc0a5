"""A store itself, for people and for programs: what is in it, and whether it keeps its promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flake_report.model.upkeep import Check, StoreInfo, TableSize

from .words import plural

SHOWN = 5
"""Cases of a broken promise that are printed."""


def info_text(info: StoreInfo) -> Iterator[str]:
    """A line a table, then what it was read with."""
    span = f"{info.weeks[0]} to {info.weeks[-1]}, {plural(len(info.weeks), 'week')}" if info.weeks else "empty"
    yield f"{info.path}: layout {info.layout}, commit {info.version} · {span}"
    yield f"{'':10}{'rows':>14}{'superseded':>12}{'files':>8}{'size':>10}"
    for name, table in info.tables.items():
        yield f"{name:10}{table.rows:>14,}{table.superseded:>12,}{table.files:>8,}{_size(table.size):>10}"
    for (parser, signatures, fingerprint), jobs in info.readers.items():
        yield f"{plural(jobs, 'job')} read with parser {parser}, signatures {signatures}, fingerprint {fingerprint}"
    if info.unnamed:
        unused = f"{plural(info.unnamed, 'file')} of {_size(info.unnamed_size)}"
        yield f"{unused} no longer in use; `flake-report store vacuum` takes old ones away"


def info_json(info: StoreInfo) -> dict[str, Any]:
    """The stable keys of `store info --format json`."""
    return {
        "store": info.path,
        "layout": info.layout,
        "version": info.version,
        "weeks": list(info.weeks),
        "tables": {name: _table(table) for name, table in info.tables.items()},
        "readers": [
            {"parser": parser, "signatures": signatures, "fingerprint": fingerprint, "jobs": jobs}
            for (parser, signatures, fingerprint), jobs in info.readers.items()
        ],
        "unnamed": {"files": info.unnamed, "bytes": info.unnamed_size},
    }


def checks_text(checks: Sequence[Check]) -> Iterator[str]:
    """A line a promise, and the first cases that break it."""
    for check in checks:
        yield f"{'✗' if check.broken else '✓'} {check.promise}"
        yield from (f"    {case}" for case in check.broken[:SHOWN])
        if len(check.broken) > SHOWN:
            yield f"    … {len(check.broken) - SHOWN} more"


def checks_json(checks: Sequence[Check]) -> dict[str, Any]:
    """The stable keys of `store verify --format json`."""
    return {"checks": [{"promise": check.promise, "broken": list(check.broken)} for check in checks]}


def _table(table: TableSize) -> dict[str, int]:
    return {"rows": table.rows, "superseded": table.superseded, "files": table.files, "bytes": table.size}


def _size(size: int) -> str:
    """Bytes in the largest unit of which there is one."""
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
