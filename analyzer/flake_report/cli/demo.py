"""`flake-report demo`: the whole way, on a small simulated history."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from flake_report import demo, flow
from flake_report.collect.files import open_blob
from flake_report.model.config import RatesConfig
from flake_report.model.query import Query
from flake_report.report import explanation, table

from .terminal import show, warn


@click.command(name="demo", short_help="Try it all on a small simulated history.")
@click.option("--keep", metavar="DIR", help="Write the simulated archive here and leave it.")
def command(keep: str | None) -> int:
    """Take a small simulated history all the way: archive, store, the cause of a failed job, the rates.

    \b
    flake-report demo
    """
    with tempfile.TemporaryDirectory(prefix="flake-report-demo-") as scratch:
        archive = Path(keep) if keep else Path(scratch) / "archive"
        demo.write_history(archive)
        store = str(Path(scratch) / "store")
        signatures = flow.signature_table()
        show(demo.NOTICE)
        for log in demo.FAILED_JOB_LOGS:
            show(f"\n$ flake-report explain {log}")
            show(*explanation.to_text(flow.explain(open_blob(str(archive / log), sys.stdin.buffer), signatures)))
        show("\n$ flake-report ingest archive && flake-report show --branch main")
        flow.ingest(str(archive), store, signatures, warn, lambda: None)
        show(*table.to_text(flow.show(store, Query(branch="main"), budget=RatesConfig().budget)))
    return 0
