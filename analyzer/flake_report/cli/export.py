"""`flake-report export`: the report as files."""

from __future__ import annotations

from pathlib import Path

import click

from flake_report.collect.storage import LocalFolder
from flake_report.report.files import FILES

from .options import HistoryArguments, engine_option, format_option, history_options
from .terminal import print_json, show


@click.command(name="export", short_help="Write the report's data files into a folder.")
@click.argument("folder", metavar="DIR")
@history_options
@engine_option
@format_option
def command(folder: str, form: str, **arguments: object) -> int:
    """Write report.json, tests.csv and tests.parquet into DIR: the numbers of `show`, whole or not at all.

    \b
    flake-report export report/ --since 4w
    """
    where = HistoryArguments.from_click(arguments)
    report = where.report()
    rendered = {name: render(report) for name, render in FILES.items()}
    target = LocalFolder(Path(folder))
    for name, data in rendered.items():
        target.write(name, [data])
    if form == "json":
        print_json({"folder": folder, "files": {name: len(data) for name, data in rendered.items()}})
    else:
        show(f"{len(report.tests):,} tests → " + ", ".join(str(Path(folder) / name) for name in rendered))
    return 0 if report.health.jobs else 1
