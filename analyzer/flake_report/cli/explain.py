"""`flake-report explain`: the cause of a failed job, from its log."""

from __future__ import annotations

import json
import sys

import click

from flake_report import flow
from flake_report.collect.files import open_blob
from flake_report.errors import FlakeReportError
from flake_report.report import explanation

from .options import format_option, signatures_option, user_signatures
from .terminal import show, warn


@click.command(name="explain", short_help="Name the cause of a failed job from its log.")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@format_option
@signatures_option
def command(logs: tuple[str, ...], form: str, signatures: tuple[str, ...]) -> int:
    """Name the cause of a failed job, the line, the numbers in it, and what to do.

    A LOG is a file as Buildkite gives it (plain, .gz or .zst), or - for standard input. No store, no set-up.

    \b
    flake-report explain build.log
    """
    table = flow.signature_table(*user_signatures(signatures))
    told, status = [], 0
    for name in logs:
        try:
            told.append(flow.explain(open_blob(name, sys.stdin.buffer), table))
        except FlakeReportError as error:
            warn(error)
            status = 2
    if form == "json":
        click.echo(json.dumps({"logs": [explanation.to_json(one) for one in told]}, indent=1, ensure_ascii=False))
        return status
    for number, one in enumerate(told):
        if len(logs) > 1:
            show(("" if number == 0 else "\n") + one.log)
        show(*explanation.to_text(one))
        for warning in one.warnings:
            warn(f"{one.log}: {warning}")
    return status
