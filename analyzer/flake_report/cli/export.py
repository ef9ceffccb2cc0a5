"""`flake-report export`: the report as files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from flake_report import flow
from flake_report.collect.storage import LocalFolder
from flake_report.errors import FlakeReportError
from flake_report.report.files import FILES

from .options import HistoryArguments, engine_option, format_option, history_options
from .quarantine import read_list
from .terminal import print_json, show, warn


@click.command(name="export", short_help="Write the weekly page and its data files into a folder.")
@click.argument("folder", metavar="DIR")
@click.option(
    "--baseline", metavar="DIR|URL", help="Compare with this earlier export: its folder, or its address (http, s3, …)."
)
@history_options
@click.option("--quarantine", "listed", metavar="FILE", help="The quarantine list: the page tells which tests left it.")
@engine_option
@format_option
def command(folder: str, baseline: str | None, listed: str | None, form: str, **arguments: object) -> int:
    """Write a page, index.html, and the data files into DIR: the numbers of `show`, each file whole or not at all.

    The page works from disk, and asks nothing of any network. For very many tests it has scripts beside it.

    With a baseline, what is new, worse, better or vanished is told against that export, and against what it was itself
    compared with: a weekly job needs no store that lasts, only last week's files. Where there is none yet, it says so.

    \b
    flake-report export report/ --since 4w
    flake-report export report/ --baseline last-week/
    """
    where = HistoryArguments.from_click(arguments)
    report, stories = where.told()
    if baseline:
        try:
            report = flow.compared_with(report, baseline)
        except FlakeReportError as error:
            warn(f"{error}: nothing is compared with a baseline")
    now = datetime.now(UTC)
    decided = None
    if listed is not None:
        old, today = read_list(listed), now.date()
        _, decided = flow.quarantine(where.store, where.query, report, old, today=today, days=1, renew=False)
    rendered = {name: render(report) for name, render in FILES.items()} | flow.site(report, stories, now, decided)
    target = LocalFolder(Path(folder))
    for name, data in rendered.items():
        target.write(name, [data])
    if form == "json":
        print_json({"folder": folder, "files": {name: len(data) for name, data in rendered.items()}})
    else:
        show(f"{len(report.tests):,} tests → " + ", ".join(str(Path(folder) / name) for name in rendered))
    return 0 if report.health.jobs else 1
