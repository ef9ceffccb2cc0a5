"""`flake-report signatures`: the table of known failures."""

from __future__ import annotations

import click
from rich.table import Table

from flake_report import flow
from flake_report.classify.signatures import SignatureTable, parse_table

from .options import format_option, read_text
from .terminal import print_json, show


@click.command(name="signatures", short_help="List the failures that are recognised, or check your own.")
@click.option("--check", metavar="FILE", help="Validate a table of your own instead of listing.")
@format_option
def command(check: str | None, form: str) -> int:
    """List the failures that are recognised, in order of priority, or check a table of your own.

    A table is TOML: one [[signature]] a row, with name, title, blame, pattern, hint, example and source.

    \b
    flake-report signatures --check mine.toml
    """
    table = flow.signature_table() if check is None else parse_table(read_text(check), check)
    if form == "json":
        print_json({"signatures": rows(table)})
    elif check is not None:
        show(f"{check}: {len(table.rows)} rows, every example matches its own row")
    else:
        show(listing(table))
    return 0


def rows(table: SignatureTable) -> list[dict[str, object]]:
    """The stable keys of `signatures --format json`."""
    return [
        {
            "name": row.name,
            "title": row.title,
            "blame": row.blame.value,
            "wrapper": row.wrapper,
            "weak": row.weak,
            "pattern": row.pattern,
            "hint": row.hint,
            "example": row.example,
            "source": row.source,
        }
        for row in table.rows
    ]


def listing(table: SignatureTable) -> Table:
    """One line a row."""
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for heading in ("blame", "signature", "what happened"):
        grid.add_column(heading, overflow="fold")
    for row in table.rows:
        grid.add_row(row.blame.value, row.name, row.title + (" (wrapper)" if row.wrapper else ""))
    return grid
