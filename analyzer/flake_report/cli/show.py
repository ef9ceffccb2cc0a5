"""`flake-report show`: the rates of a history."""

from __future__ import annotations

import click

from flake_report.model.report import FlakeReport
from flake_report.model.story import Stories
from flake_report.report import digest, history, story, table

from .options import HistoryArguments, engine_option, history_options
from .terminal import json_text, look, print_json_text, print_text, rendered, sheet


@click.command(name="show", short_help="Tell which tests flake, and how often.")
@history_options
@click.option("--all", "everything", is_flag=True, help="Also the tests that never failed; with --why, each run.")
@click.option("--why", metavar="TEST", help="The evidence on this test, run by run; its name as for --test.")
@engine_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    help="For people, for programs, or for a comment on a pull request.",
)
def command(everything: bool, why: str | None, form: str, **arguments: object) -> int:  # noqa: FBT001  # click hands a flag as a bool
    """Tell which tests fail on their first attempt, how often, and how often the environment failed them.

    Every test has a verdict with its reason. Every rate stands with the runs that it rests on and its 95 % interval.
    Failures by the environment (GPU memory, agent, network) are counted apart: they say nothing of the test.

    \b
    flake-report show --since 4w --branch main
    flake-report show --why test_fewer_blocks_with_hma
    flake-report show --format markdown
    """
    if why and form == "markdown":
        raise click.UsageError("--why is told as text or json; leave --format markdown out")
    if why and arguments["test"]:
        raise click.UsageError("--why names the test already; leave --test out")
    where = HistoryArguments.from_click({**arguments, "test": why or arguments["test"]})
    paper = sheet()

    def report_text(report: FlakeReport) -> str:
        if form == "json":
            return json_text(history.to_json(report))
        if form == "markdown":
            return digest.to_markdown(report, everything=everything)
        return rendered(paper, table.to_text(report, everything=everything))

    def stories_text(stories: Stories) -> str:
        if form == "json":
            return json_text(story.to_json(stories))
        return rendered(paper, story.to_text(stories, everything=everything))

    whole_form = repr((form, everything, look(paper) if form == "text" else ""))
    if why:
        page = where.stories_page(whole_form, stories_text)
    else:
        page = where.report_page(whole_form, report_text, brief=form == "text" and not everything)
    (print_json_text if form == "json" else print_text)(page.text)
    return 0 if page.found else 1
