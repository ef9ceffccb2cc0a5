"""Rates of whole steps, queues, owners, files and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from flake_report.model.rate import Level, RollUp

from .words import one_line

SHOWN = 3
"""Names of one level that are shown unasked."""

FEW = 5
"""Jobs with a failure below which an interval is too narrow: it rests on one or two things that happened."""

LEVELS = (Level.QUEUE, Level.STEP, Level.OWNER)
"""Levels in the order in which they are shown unasked; files and tests come with everything else."""


def to_json(rollup: RollUp) -> dict[str, object]:
    """One roll-up: the interval rests on `effective` runs, not on all of them."""
    own = rollup.own
    return {
        "level": rollup.level.value,
        "name": rollup.name,
        "variants": rollup.variants,
        "own_runs": own.n,
        "first_failures": own.hits,
        "rate": own.rate,
        "low": own.low,
        "high": own.high,
        "jobs": rollup.jobs,
        "failing_jobs": rollup.failing_jobs,
        "design_effect": rollup.design_effect,
        "effective": rollup.effective,
    }


def to_text(rollups: Sequence[RollUp], *, everything: bool) -> Iterator[RenderableType]:
    """The names of each level with the most failures; nothing where nothing failed."""
    failing = [rollup for rollup in rollups if rollup.own.hits]
    shown = [
        rollup
        for level in ((*LEVELS, Level.FILE, Level.TEST) if everything else LEVELS)
        for rollup in [each for each in failing if each.level is level][: None if everything else SHOWN]
    ]
    if not shown:
        return
    yield Text("   first attempt failed, runs of one job taken together", style="dim", no_wrap=True)
    runs = max(15, *(len(_runs(rollup)) + 2 for rollup in shown))
    worth = max(7, *(len(_worth(rollup)) + 2 for rollup in shown))
    yield Text(f"    rate       95 % {'runs':>{runs}}{'worth':>{worth}}", style="dim", no_wrap=True)
    for rollup in shown:
        yield _line(rollup, runs, worth)
    if any(rollup.failing_jobs < FEW for rollup in shown):
        yield Text(f"! failures in fewer than {FEW} jobs: the interval is too narrow", style="dim")
    yield Text()


def _runs(rollup: RollUp) -> str:
    return f"{rollup.own.hits:,}/{rollup.own.n:,}"


def _worth(rollup: RollUp) -> str:
    return f"{rollup.effective:,.0f}"


def _line(rollup: RollUp, runs: int, worth: int) -> Text:
    """The last two are the widths of their columns."""
    own = rollup.own
    line = Text(overflow="fold")
    line.append(f"{f'{own.rate * 100:.1f} %':>8}", style="bold")
    line.append(f"{f'{own.low * 100:.1f}–{own.high * 100:.1f}':>11}", style="dim")
    line.append("!" if rollup.failing_jobs < FEW else " ", style="dim")
    line.append(f"{_runs(rollup):>{runs}}{_worth(rollup):>{worth}}   ")
    return line.append(f"{rollup.level.value} {one_line(rollup.name)}")
