"""`flake-report show`: the rates of a history."""

from __future__ import annotations

import click

from flake_report.report import digest, history, story, table

from .harmless import harmless
from .options import HistoryArguments, engine_option, history_options
from .terminal import print_json, show


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
    if why:
        return _why(where, form, everything=everything)
    report = where.report()
    if form == "json":
        print_json(history.to_json(report))
    elif form == "markdown":
        click.echo(harmless(digest.to_markdown(report, everything=everything)), nl=False)
    else:
        show(*table.to_text(report, everything=everything))
    return 0 if report.health.jobs else 1


def _why(where: HistoryArguments, form: str, *, everything: bool) -> int:
    stories = where.stories()
    if form == "json":
        print_json(story.to_json(stories))
    else:
        show(*story.to_text(stories, everything=everything))
    return 0 if stories.stories else 1
