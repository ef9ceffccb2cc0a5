"""`flake-report ingest`: evidence into the store."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from flake_report import flow
from flake_report.collect.folder import BuildFrom
from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.config import CollectConfig
from flake_report.report.words import plural

from .collect import collected, is_pipeline
from .options import engine_option, format_option, load_config, signatures_option, store_option, user_signatures
from .terminal import console, print_json, show, warn

NOUNS = {"builds": "build", "jobs": "job", "attempts": "attempt", "matches": "recognised failure"}

SHOWN_WARNINGS = 20
"""Warnings that are printed; of a large history with many, the first tell the kind and the rest are counted."""


@click.command(name="ingest", short_help="Read archives and folders of results into the store.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@store_option("The store, made if absent; else the setting [store] path.")
@click.option(
    "--build-from",
    type=click.Choice([kind.value for kind in BuildFrom]),
    help="Of a plain folder: builds are its folders, or files written within an hour of each other.",
)
@engine_option
@format_option
@signatures_option
def command(
    *,
    sources: tuple[str, ...],
    store: str | None,
    build_from: str | None,
    engine: str,
    form: str,
    signatures: tuple[str, ...],
) -> int:
    """Read archives and plain folders of test results into the store.

    A SOURCE is an archive (ORG/PIPELINE/BUILD/JOB/...), Buildkite's build exports, any folder of result files, where
    each folder at the top is a build, or ORG/PIPELINE, which is first collected into the archive. Archives and exports
    may be URLs (s3, gs, az). Ingesting a job again replaces it, so the same command can run every night.

    \b
    flake-report ingest archive/
    flake-report ingest ORG/PIPELINE
    """
    config = load_config()
    path = store or config.store.path
    table = flow.signature_table(*user_signatures(signatures))
    terminal = console(stderr=True)
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} jobs"),
        TimeElapsedColumn(),
        console=terminal,
        disable=not terminal.is_terminal,
    )
    warnings = 0
    owners: dict[str, str] = {}
    totals = {"builds": 0, "jobs": 0, "attempts": 0, "matches": 0}

    def told(message: object) -> None:
        nonlocal warnings
        warnings += 1
        if warnings <= SHOWN_WARNINGS:
            warn(message)

    ready = list(_ready(sources, config.collect))
    status = 0 if len(ready) == len(sources) else 2
    kind = BuildFrom(build_from) if build_from else None
    with bar:
        task = bar.add_task("", total=None)
        for source, again in ready:
            try:
                counts = flow.ingest(
                    source,
                    path,
                    table,
                    told,
                    lambda: bar.advance(task),
                    build_from=kind,
                    again=again,
                    owners=owners,
                    engine=engine,
                )
            except FlakeReportError as error:
                warn(error)
                status = max(status, 1 if isinstance(error, NothingUsableError) else 2)
                continue
            for name in totals:
                totals[name] += getattr(counts, name)
    if warnings > SHOWN_WARNINGS:
        warn(f"… and {plural(warnings - SHOWN_WARNINGS, 'warning')} more")
    if form == "json":
        print_json({"store": path, **totals, "warnings": warnings})
    elif totals["jobs"] or not status:
        show(_summary(totals, path, warnings))
    return status


def _summary(totals: dict[str, int], path: str, warnings: int) -> str:
    counted = " · ".join(plural(count, NOUNS[name]) for name, count in totals.items())
    return f"{counted} → {path}" + (f" · {plural(warnings, 'warning')}" if warnings else "")


def _ready(sources: tuple[str, ...], settings: CollectConfig) -> Iterator[tuple[str, bool]]:
    """Each source that can be read, and whether all of it is read again: of a pipeline, what is new is collected."""
    for source in sources:
        try:
            pipeline = is_pipeline(source)
            yield (collected(source, settings) if pipeline else source), not pipeline
        except FlakeReportError as error:
            warn(error)
