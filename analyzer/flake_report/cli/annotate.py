"""`flake-report annotate`: what is known of this build's failures, on the build itself."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from flake_report import flow
from flake_report.collect.present import Here
from flake_report.errors import FlakeReportError
from flake_report.model.report import FlakeReport
from flake_report.model.triage import FailureKind, Triage
from flake_report.report import annotation, digest

from . import buildkite_agent
from .harmless import harmless
from .options import (
    HistoryArguments,
    engine_option,
    format_option,
    history_options,
    signatures_option,
    user_signatures,
)
from .terminal import print_json, warn

CONTEXT = "flake-report"
LONGEST_CONTEXT = 100  # characters; Buildkite takes no more


@click.command(
    name="annotate", short_help="Say on the build itself which of its failures are known, and which are new."
)
@click.argument("files", nargs=-1, metavar="[FILE|FOLDER]...")
@click.option(
    "--baseline",
    metavar="DIR|URL",
    help="What is known: an earlier export, by its folder or address; no store is read.",
)
@history_options
@click.option("--context", metavar="NAME", help="The annotation's name; one of this name on the build is replaced.")
@click.option(
    "--artifact", "artifacts", metavar="PATH", multiple=True, help="A file to upload and to show (image) or to link."
)
@click.option(
    "--fail-on", metavar="KIND", type=click.Choice([kind.value for kind in FailureKind]), multiple=True,
    help=f"Exit with 1 where a failure is of this kind: {', '.join(FailureKind)}.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the annotation and call no agent.")
@signatures_option
@engine_option
@format_option
def command(
    *,
    files: tuple[str, ...],
    baseline: str | None,
    context: str | None,
    artifacts: tuple[str, ...],
    fail_on: tuple[str, ...],
    dry_run: bool,
    signatures: tuple[str, ...],
    form: str,
    **arguments: object,
) -> int:
    """Write an annotation on the Buildkite build that runs this: its failures, sorted by what is to be done.

    FILEs and FOLDERs are what the jobs of this build left: logs, JUnit, attempts files. In a FOLDER each folder is a
    step; a file belongs to the job whose id stands in its path. Which failures are known is told by an export, or by a
    store that does not have this build yet. Without FILEs the annotation is about the history: a weekly build's.

    Nothing here fails a job, unless --fail-on asks. Outside Buildkite, the annotation is printed.

    \b
    flake-report annotate test-results/ --baseline last-week/
    flake-report annotate test-results/ --baseline last-week/ --fail-on new
    flake-report annotate --store flake-report-store --artifact report/index.html
    """
    if fail_on and not files:
        raise click.UsageError("--fail-on is about the failures of this build; name its FILEs")
    name = context or (CONTEXT if files else f"{CONTEXT}-weekly")
    if len(name) > LONGEST_CONTEXT:
        raise click.UsageError(f"--context takes at most {LONGEST_CONTEXT} characters")
    posts = not dry_run and buildkite_agent.present(os.environ)
    shown = _uploaded(artifacts) if posts else list(artifacts)
    try:
        where = HistoryArguments.from_click(arguments)
        asked = arguments["store"] is not None
        note = (
            _of_build(_triage(files, where, baseline, signatures, asked=asked), shown)
            if files
            else _of_history(_report(where, baseline), shown)
        )
    except FlakeReportError as error:
        warn(f"{error}: no annotation is written")
        return 0
    posted = posts and _posted(note.body, name, note.style)
    if form == "json":
        print_json({"context": name, "style": note.style, "posted": posted, "body": note.body, **note.values})
    else:
        click.echo(harmless(f"{note.line} → annotation {name}" if posted else note.body.rstrip("\n")))
    return int(bool(note.kinds & set(fail_on)))


@dataclass(frozen=True, slots=True)
class _Note:
    """What is to be said, as an annotation, in one line, and as values; `kinds` of failures are in it."""

    body: str
    style: annotation.Style
    line: str
    values: Mapping[str, object]
    kinds: frozenset[str] = frozenset()


def _of_build(found: Triage, artifacts: Sequence[str]) -> _Note:
    return _Note(
        annotation.annotation(found, artifacts),
        annotation.style(found),
        annotation.headline(found),
        annotation.to_json(found),
        frozenset(failure.kind for failure in found.failures),
    )


def _of_history(report: FlakeReport, artifacts: Sequence[str]) -> _Note:
    body = digest.to_markdown(report, artifacts=artifacts, limit=annotation.LIMIT)
    return _Note(body, digest.style(report), digest.headline(report), {})


def _posted(body: str, context: str, style: str) -> bool:
    failed = buildkite_agent.annotate(body, context=context, style=style)
    if failed:
        warn(failed)
    return not failed


def _uploaded(paths: tuple[str, ...]) -> list[str]:
    """Those of the artifacts that the build has now; what was not uploaded cannot be shown."""
    there = []
    for path in paths:
        # the agent itself takes a file that is not there for nothing to do
        failed = buildkite_agent.upload(path) if Path(path).is_file() else "there is no such file"
        if failed:
            warn(f"{path}: {failed}; it is not shown")
        else:
            there.append(path)
    return there


def _triage(
    files: tuple[str, ...], where: HistoryArguments, baseline: str | None, signatures: tuple[str, ...], *, asked: bool
) -> Triage:
    """This build against what is known; where that cannot be read, without, and it says so."""
    table = flow.signature_table(*user_signatures(signatures))
    known = archive = None
    try:
        if baseline:
            known = flow.known_failures(baseline)
        elif asked or Path(where.store).exists():
            known = flow.known_failures(where.report())
            archive = flow.memory_archive(where.store)
    except FlakeReportError as error:
        warn(f"{error}: this build is compared with nothing")
    here = Here.from_env(os.environ, datetime.now(UTC))
    readable = []
    for name in files:
        if Path(name).exists():
            readable.append(name)
        else:
            warn(f"{name}: there is no such file or folder; left out")
    return flow.triage(readable, here, table, warn, known=known, archive=archive)


def _report(where: HistoryArguments, baseline: str | None) -> FlakeReport:
    report = where.report()
    if baseline:
        try:
            return flow.compared_with(report, baseline)
        except FlakeReportError as error:
            warn(f"{error}: nothing is compared with a baseline")
    return report
