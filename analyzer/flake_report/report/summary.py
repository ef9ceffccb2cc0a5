"""What was understood of result files, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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


def to_text(read: Iterable[tuple[str, ReportSummary]]) -> Iterator[Text]:
    """One line a file, as long as its name: nothing is folded, so that a name can be copied."""
    heading = "".join(f" {count:>9}" for count in COUNTS)
    yield Text(f"{'kind':<9}{heading}  complete  file", style="dim", no_wrap=True, overflow="ignore")
    for name, summary in read:
        counts = "".join(f" {getattr(summary, count):>9,}" for count in COUNTS)
        line = Text(f"{summary.kind:<9}{counts}  ", no_wrap=True, overflow="ignore")
        line.append("yes     " if summary.complete else "NO      ", style="" if summary.complete else "bold red")
        yield line.append(f"  {name}")
