"""`flake-report explain`: the cause of a failed job, from its log."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

from flake_report import flow
from flake_report.collect.buildurl import is_url
from flake_report.collect.files import open_blob
from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.evidence import Blob
from flake_report.model.failure import Explanation
from flake_report.report import explanation

from .options import format_option, signatures_option, store_option, user_signatures
from .terminal import print_json, show, warn


@click.command(name="explain", short_help="Name the cause of a failed job from its log.")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@format_option
@signatures_option
@store_option("Also say what this store knows of such GPU-memory failures.")
def command(logs: tuple[str, ...], form: str, signatures: tuple[str, ...], store: str | None) -> int:
    """Name the cause of a failed job, the line, the numbers in it, and what to do.

    A LOG is a file as Buildkite gives it (plain, .gz or .zst), - for standard input, or a Buildkite URL: of a job, or
    of a build, whose failed jobs are then explained. Public pipelines need no token; for others it is in
    BUILDKITE_API_TOKEN, in the file that BUILDKITE_API_TOKEN_FILE names, or from the command that
    BUILDKITE_API_TOKEN_COMMAND names. BUILDKITE_API_URL and BUILDKITE_WEB_URL name other servers, such as a proxy. No
    store is needed; with one, GPU-memory failures are compared with those before: since when, always the same amount,
    gone on a retry.

    \b
    flake-report explain build.log
    flake-report explain https://buildkite.com/ORG/PIPELINE/builds/NUMBER
    flake-report explain build.log --store flake-report-store
    """
    table = flow.signature_table(*user_signatures(signatures))
    past = flow.memory_archive(store) if store else None
    told: list[Explanation] = []
    status = 0
    for name in logs:
        before = len(told)
        try:
            for blob in _blobs(name):
                try:
                    one = flow.explain(blob, table)
                    told.append(flow.recalled(one, past) if past else one)
                except FlakeReportError as error:
                    warn(error)
                    status = max(status, 1 if isinstance(error, NothingUsableError) else 2)
                    continue
                if form == "text":
                    _show(told, titled=len(logs) > 1 or is_url(name))
        except FlakeReportError as error:
            warn(error)
            status = max(status, 1 if isinstance(error, NothingUsableError) else 2)
        if len(told) == before and not status:
            warn(f"{name}: no job of this build has failed")
    if form == "json":
        print_json({"logs": [explanation.to_json(one) for one in told]})
    return 0 if told and status == 1 else status  # an unusable log beside others is only a warning


def _blobs(name: str) -> Iterator[Blob]:
    if is_url(name):
        return flow.job_logs(name, os.environ, warn)
    return iter([open_blob(name, sys.stdin.buffer)])


def _show(told: list[Explanation], *, titled: bool) -> None:
    """Print the newest one, as soon as it is known: the next log may take a while to come."""
    one = told[-1]
    if titled:
        show(("\n" if len(told) > 1 else "") + one.log)
    show(*explanation.to_text(one))
    for warning in one.warnings:
        warn(warning if warning.startswith(f"{one.log}:") else f"{one.log}: {warning}")
