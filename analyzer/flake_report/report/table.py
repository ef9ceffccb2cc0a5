"""A history for the terminal: the tests that failed, worst first, then whether the data can be trusted."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from flake_report.model.rate import FlakeRate, Interval
from flake_report.model.report import FlakeReport, Health, Window

SHOWN = 20
"""Rows that are shown unasked."""


def to_text(report: FlakeReport, *, everything: bool = False) -> Iterator[Text | Table]:
    """Renderables for a terminal, in reading order; `everything` shows the tests that never failed, too."""
    yield Text(window_line(report.window, report.health), style="bold")
    yield Text()
    failing = [test for test in report.tests if test.own.hits or test.environment.hits]
    shown = list(report.tests) if everything else failing[:SHOWN]
    if shown:
        yield _grid(shown)
        yield Text()
    if not everything and len(failing) > SHOWN:
        yield Text(f"… {len(failing) - SHOWN:,} more that failed; --all shows every test", style="dim")
    if clean := len(report.tests) - len(failing):
        yield Text(f"{clean:,} of {len(report.tests):,} never failed here", style="dim")
    yield Text(health_line(report.health), style="dim")


def window_line(window: Window, health: Health) -> str:
    """What stretch of history, on which branch."""
    branch = window.branch or "all branches"
    since, until = window.since, window.until or health.newest
    days = " to ".join(f"{moment:%Y-%m-%d}" for moment in (since, until) if moment)
    return " · ".join(part for part in (branch, days, f"{health.builds:,} builds") if part)


def health_line(health: Health) -> str:
    """Whether the numbers above can be trusted."""
    parts = [f"data: {health.jobs:,} jobs, {health.attempts:,} attempts"]
    if health.jobs_lost:
        parts.append(f"{health.jobs_lost:,} jobs lost")
    if health.jobs_without_results:
        parts.append(f"{health.jobs_without_results:,} jobs without results")
    if health.attempts_unknown:
        parts.append(f"{health.attempts_unknown:,} attempts of unknown order")
    if health.warnings:
        parts.append(f"{health.warnings:,} warnings while reading")
    if health.modes == ("failed",):
        parts.append("failed jobs only: rates have no denominator")
    if health.newest:
        parts.append(f"newest {health.newest:%Y-%m-%d %H:%M} UTC")
    return " · ".join(parts)


def _grid(tests: list[FlakeRate]) -> Table:
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for heading in ("failed\nfirst", "95 %\n", "of\nruns", "environ-\nment", "95 %\n", "of\nruns"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("test\nstep · queue · main signature", overflow="fold", ratio=1)
    for test in tests:
        grid.add_row(*_rate(test.own), *_rate(test.environment), _name(test))
    return grid


def _rate(rate: Interval) -> tuple[Text, Text, Text]:
    if rate.n == 0:
        return Text("–"), Text("unknown", style="dim"), Text("0")
    style = "bold" if rate.hits else "dim"
    band = f"{rate.low * 100:.1f}–{rate.high * 100:.1f}"
    return Text(f"{rate.rate * 100:.1f} %", style=style), Text(band, style="dim"), Text(f"{rate.hits}/{rate.n}")


def _name(test: FlakeRate) -> Text:
    variant = test.variant
    where = " · ".join(part for part in (variant.step, variant.queue, variant.session, test.signature) if part)
    return Text.assemble(str(variant.test), ("\n" + where, "dim") if where else "")
