"""`flake-report store`: look at a store itself, and look after it."""

from __future__ import annotations

import click

from flake_report import flow
from flake_report.report import upkeep
from flake_report.report.words import plural

from .harmless import harmless
from .options import format_option, load_config, store_option
from .terminal import print_json, show


@click.group(name="store", short_help="Look at a store itself, and look after it.")
def command() -> None:
    """Look at a store itself, and look after it.

    Ingesting merges small files by itself, so none of this must ever be run; none makes readers or writers wait.

    \b
    flake-report store info
    flake-report store compact && flake-report store vacuum
    """


@command.command(name="info", short_help="Tell what is in it: rows, files, weeks, versions.")
@store_option()
@format_option
def info(store: str | None, form: str) -> int:
    """Tell what is in a store: rows and files of each table, the weeks, and what its jobs were read with.

    \b
    flake-report store info --format json
    """
    found = flow.open_store(_path(store)).info()
    if form == "json":
        print_json(upkeep.info_json(found))
    else:
        show(*upkeep.info_text(found))
    return 0


@command.command(name="verify", short_help="Check what it promises, row by row.")
@store_option()
@format_option
def verify(store: str | None, form: str) -> int:
    """Check that a store keeps its promises; exit status 1 where it does not.

    Every file is there and whole; every row has its job, in its week; no row is seen that a newer ingest replaced.

    \b
    flake-report store verify
    """
    checks = flow.open_store(_path(store)).verify()
    if form == "json":
        print_json(upkeep.checks_json(checks))
    else:
        show(*upkeep.checks_text(checks))
    return 1 if any(check.broken for check in checks) else 0


@command.command(name="compact", short_help="Merge small files, drop superseded rows.")
@store_option()
@format_option
def compact(store: str | None, form: str) -> int:
    """Merge small files into large ones, without the rows that newer ingests replaced.

    \b
    flake-report store compact
    """
    path = _path(store)
    done = flow.open_store(path).compact()
    if form == "json":
        print_json(
            {
                "store": path,
                "files_before": done.files_before,
                "files_after": done.files_after,
                "rows_dropped": done.rows_dropped,
            }
        )
    else:
        merged = f"{plural(done.files_before, 'file')} merged into {done.files_after:,}"
        show(f"{merged}, {plural(done.rows_dropped, 'superseded row')} dropped")
    return 0


@command.command(name="vacuum", short_help="Take away files that are no longer in use.")
@store_option()
@click.option(
    "--hours",
    type=click.IntRange(min=1),
    default=24,
    show_default=True,
    help="Unused for so long.",
)
@format_option
def vacuum(store: str | None, hours: int, form: str) -> int:
    """Take away files that were merged, or left by a killed ingest, and that nothing has used for a day.

    \b
    flake-report store vacuum --hours 48
    """
    path = _path(store)
    done = flow.open_store(path).vacuum(hours)
    if form == "json":
        print_json({"store": path, "files": done.files, "bytes": done.size})
    else:
        show(f"{plural(done.files, 'file')} taken away, {done.size / 1e6:,.1f} MB")
    return 0


@command.command(name="views", short_help="Print views for engines that read Delta tables.")
@store_option()
@click.option(
    "--for",
    "engine",
    type=click.Choice(["databricks", "duckdb"]),
    default="databricks",
    help="Whose SQL.",
)
def views(store: str | None, engine: str) -> int:
    """Print CREATE VIEW statements for builds, jobs, attempts, matches, memory and engines.

    For engines that read Delta tables by themselves: Databricks (and Spark with Delta Lake), DuckDB with `delta`.

    \b
    flake-report store views --for duckdb
    """
    for statement in flow.open_store(_path(store)).views(engine):
        click.echo(harmless(f"{statement};"))
    return 0


@command.command(name="upgrade", short_help="Make an older store one of today's.")
@store_option()
@format_option
def upgrade(store: str | None, form: str) -> int:
    """Make a store that an older flake-report wrote one of today's; its rows stay as they are.

    \b
    flake-report store upgrade
    """
    path = _path(store)
    steps = flow.upgrade_store(path)
    if form == "json":
        print_json({"store": path, "steps": list(steps)})
    else:
        show(*(steps or ("nothing to do: the store is one of today's",)))
    return 0


def _path(store: str | None) -> str:
    return store or load_config().store.path
