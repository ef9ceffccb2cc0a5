"""`flake-report tune`: which memory setting fits a test."""

from __future__ import annotations

import click

from flake_report import flow
from flake_report.report import tuning

from .options import HistoryArguments, Share, format_option, history_options
from .terminal import print_json, show


@click.command(name="tune", short_help="Tell which GPU memory setting fits a test.")
@history_options
@click.option(
    "--budget", type=Share(), help="The risk that is accepted, such as 0.5%; else the setting [rates] budget."
)
@click.option("--try", "tried", type=click.FloatRange(0, 1, min_open=True), multiple=True, help="A setting to tell of.")
@click.option("--all", "everything", is_flag=True, help="Also the tests that were never refused.")
@format_option
def command(
    budget: float | None,
    tried: tuple[float, ...],
    everything: bool,  # noqa: FBT001  # click hands a flag as a bool
    form: str,
    **arguments: object,
) -> int:
    """Tell what each gpu_memory_utilization would have done with every start seen, and which one fits.

    Tests of each step, queue and size of card stand apart. The table can be pasted into a pull request.

    \b
    flake-report tune --test test_fewer_blocks --try 0.3
    """
    where = HistoryArguments.from_click(arguments)
    found = flow.tune(where.store, where.query, budget=budget or where.budget, tried=tried)
    if form == "json":
        print_json({"tunings": [tuning.to_json(one) for one in found]})
    elif found:
        show(*tuning.to_text(found, everything=everything or where.query.test is not None))
    else:
        show("no start of an engine here says its setting; logs of vLLM do, names are matched as written")
    return 0 if found else 1
