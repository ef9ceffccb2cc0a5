"""`flake-report show`: the rates of a history."""

from __future__ import annotations

import click

from flake_report import flow
from flake_report.report import history, table

from .options import HistoryArguments, format_option, history_options
from .terminal import print_json, show


@click.command(name="show", short_help="Tell which tests flake, and how often.")
@history_options
@click.option("--all", "everything", is_flag=True, help="Also the tests that never failed.")
@format_option
def command(everything: bool, form: str, **arguments: object) -> int:  # noqa: FBT001  # click hands a flag as a bool
    """Tell which tests fail on their first attempt, how often, and how often the environment failed them.

    Every rate stands with the runs that it rests on and its 95 % interval. Failures by the environment (GPU memory,
    agent, network) are counted apart: they say nothing of the test.

    \b
    flake-report show --since 4w --branch main
    """
    where = HistoryArguments.from_click(arguments)
    report = flow.show(where.store, where.query, budget=where.budget, queues=where.queues)
    if form == "json":
        print_json(history.to_json(report))
    else:
        show(*table.to_text(report, everything=everything))
    return 0 if report.health.jobs else 1
