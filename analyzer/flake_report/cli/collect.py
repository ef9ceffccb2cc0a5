"""`flake-report collect`: a pipeline's builds, logs and reports into the archive."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from flake_report import flow
from flake_report.collect.asked import Asked
from flake_report.collect.collector import Collection
from flake_report.collect.listing import Window
from flake_report.collect.tally import Progress as Counts
from flake_report.errors import FlakeReportError
from flake_report.model.config import CollectConfig
from flake_report.model.evidence import LogMode
from flake_report.report.words import plural

from .options import Share, Since, format_option, load_config
from .terminal import console, print_json, show, warn

_STEADY = 600.0  # seconds over which the speed is measured: within a minute a rate limit makes it jump


@click.command(name="collect", short_help="Bring builds, logs and reports from Buildkite into an archive.")
@click.argument("pipeline", metavar="ORG/PIPELINE")
@click.option("--archive", metavar="DIR|URL", help="The archive, made if absent; else the setting [collect] archive.")
@click.option("--since", type=Since(), help="Back from now (36h, 14d, 4w), or a date; else [collect] since.")
@click.option("--branch", help="This branch alone, * matches any text; else [collect] branch.")
@click.option("--logs", type=click.Choice(["all", "failed"]), help="Of which jobs; else [collect] logs.")
@click.option("--budget", type=Share(), help="Share of each rate limit to use up (80%); else [collect] budget.")
@format_option
def command(
    *,
    pipeline: str,
    archive: str | None,
    since: timedelta | datetime | None,
    branch: str | None,
    logs: str | None,
    budget: float | None,
    form: str,
) -> int:
    """Bring builds, jobs, logs and test reports of one pipeline into an archive, newest build first.

    What is there is not fetched again, so the same command can run every hour, and go on after it was stopped. It needs
    an API token with the scopes read_builds, read_build_logs and read_artifacts, in BUILDKITE_API_TOKEN, in the file
    that BUILDKITE_API_TOKEN_FILE names, or from the command that BUILDKITE_API_TOKEN_COMMAND names. BUILDKITE_API_URL
    names another server, such as a proxy.

    \b
    flake-report collect ORG/PIPELINE --since 14d
    """
    config = load_config().collect
    run = CollectRun(config, archive or config.archive)
    counts = run(
        Collection(
            pipeline,
            window_of(since or config.since, branch or config.branch),
            Asked(LogMode(logs) if logs else config.logs, config.artifacts),
            budget or config.budget,
        )
    )
    if form == "json":
        names = ("builds", "unchanged", "jobs", "logs", "artifacts", "bytes", "missed", "requests")
        told = {name: getattr(counts, name) for name in names}
        print_json({"archive": run.archive, **told, "warnings": run.warnings})
    else:
        show(run.summary(counts))
    return 0 if counts.builds and not counts.missed else 1


def is_pipeline(source: str) -> bool:
    """Whether a source that is no path of this machine can be ORG/PIPELINE."""
    return re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", source) is not None and not Path(source).exists()


def collected(pipeline: str, config: CollectConfig) -> str:
    """Collect a pipeline as the settings say; where in the archive it then is."""
    run = CollectRun(config, config.archive)
    what = Collection(
        pipeline, window_of(config.since, config.branch), Asked(config.logs, config.artifacts), config.budget
    )
    try:
        counts = run(what)
    except FlakeReportError as error:
        raise FlakeReportError(f"{error} (and there is no folder {pipeline})") from error
    click.echo(run.summary(counts), err=True)  # standard output is the ingest's
    return f"{config.archive.rstrip('/')}/{pipeline}"


def window_of(since: timedelta | datetime, branch: str | None) -> Window:
    """The builds from a moment, or from so long before now, until now."""
    now = datetime.now(UTC)
    return Window(now, now - since if isinstance(since, timedelta) else since, branch)


@dataclass(slots=True)
class CollectRun:
    """One collection, shown on the terminal while it goes on."""

    config: CollectConfig
    archive: str
    warnings: int = 0
    _seen: Counts = field(default_factory=Counts)

    def __call__(self, what: Collection) -> Counts:
        """Collect; raises `FlakeReportError` where nothing can be had."""
        terminal = console(stderr=True)
        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("about"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=terminal,
            disable=not terminal.is_terminal,
            speed_estimate_period=_STEADY,
        )
        with bar:
            # How far back in time: builds that are still to be listed count, where a count of jobs could not know them.
            task = bar.add_task("looking", total=_seconds(what.window, what.window.since))

            def told(counts: Counts) -> None:
                words = f"{plural(counts.builds, 'build')} · {plural(counts.jobs, 'job')} kept"
                words += f" · rate limit: waiting {counts.waits:.0f} s" if counts.waits else ""
                bar.update(task, description=words, completed=_seconds(what.window, counts.back_to) or 0)

            return flow.collect(what, self.archive, os.environ, warn=self._warn, told=told)

    def summary(self, counts: Counts) -> str:
        """What came of it, in a line or two."""
        if not counts.builds:
            return "no builds in that time; give an earlier --since, or look at --branch"
        unchanged = f" ({counts.unchanged:,} unchanged)" if counts.unchanged else ""
        parts = [
            f"{plural(counts.builds, 'build')}{unchanged}",
            plural(counts.jobs, "job"),
            plural(counts.logs, "log"),
            plural(counts.artifacts, "artifact"),
            f"{counts.bytes / 1e6:,.1f} MB",
            plural(counts.requests, "request"),
        ]
        told = f"{' · '.join(parts)} → {self.archive}"
        missed = f"\n{plural(counts.missed, 'job')} could not be had: run the command again" if counts.missed else ""
        return told + missed

    def _warn(self, message: str) -> None:
        self.warnings += 1
        warn(message)


def _seconds(window: Window, back_to: datetime | None) -> float | None:
    return (window.until - back_to).total_seconds() if back_to else None
