"""What was understood of result files, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from flake_report.model.results import ReportSummary

COUNTS = ("suites", "cases", "passed", "failed", "errors", "skipped", "tests", "reruns", "flaky")
"""The counts of one file, in the order in which they are shown."""

READ_KINDS = frozenset({"junit", "attempts", "collector"})
"""Formats that are read; any other kind is only named."""


def understood(summary: ReportSummary) -> bool:
    """Whether this is a format that is read, damaged or not."""
    return summary.kind in READ_KINDS


def to_json(name: str, summary: ReportSummary) -> dict[str, object]:
    """The stable keys of `parse --format json`, for one file."""
    return {
        "file": name,
        "kind": summary.kind,
        **{count: getattr(summary, count) for count in COUNTS},
        "complete": summary.complete,
        "warnings": [str(warning) for warning in summary.warnings],
    }


def to_text(read: Iterable[tuple[str, ReportSummary]]) -> Table:
    """One line a file."""
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    grid.add_column("kind")
    for count in COUNTS:
        grid.add_column(count, justify="right")
    grid.add_column("complete")
    grid.add_column("file", overflow="fold", ratio=1)
    for name, summary in read:
        counts = [f"{getattr(summary, count):,}" for count in COUNTS]
        complete = Text("yes") if summary.complete else Text("NO", style="bold red")
        grid.add_row(summary.kind, *counts, complete, name)
    return grid
