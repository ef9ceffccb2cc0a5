"""`flake-report parse`: what is understood of result files."""

from __future__ import annotations

import sys

import click

from flake_report import flow
from flake_report.collect.files import open_blob
from flake_report.errors import FlakeReportError
from flake_report.model.results import ReportSummary
from flake_report.report import summary

from .options import format_option
from .terminal import print_json, show, warn


@click.command(name="parse", short_help="Show what is understood of test result files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@format_option
def command(files: tuple[str, ...], form: str) -> int:
    """Show what is understood of test result files: JUnit XML in any dialect, the guard's attempts files.

    Cases and their outcomes count elements of the file; tests count each test once, reruns its earlier attempts,
    flaky the tests that both failed and passed. A file that is cut or damaged is never complete.

    \b
    flake-report parse test-results/*.xml
    """
    read: list[tuple[str, ReportSummary]] = []
    status = 0
    for name in files:
        try:
            read.append((name, flow.parse(open_blob(name, sys.stdin.buffer), warn)))
        except FlakeReportError as error:
            warn(error)
            status = 2
    if form == "json":
        print_json({"files": [summary.to_json(*one) for one in read]})
    else:
        if read:
            show(*summary.to_text(read))
        for name, one in read:
            for warning in one.warnings:
                warn(f"{name}: {warning}")
    foreign = all(not summary.understood(one) for _, one in read)
    return status or int(foreign)
