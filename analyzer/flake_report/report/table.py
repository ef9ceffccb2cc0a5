"""A history for the terminal: the tests that failed, worst first, then whether the data can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from flake_report.model.rate import FlakeRate, Interval, Variant
from flake_report.model.report import FlakeReport, Health, Window

from .words import one_line, plural

SHOWN = 20
"""Tests that are shown unasked."""

HEADINGS = (
    "  first attempt failed       environment failed",
    "   rate       95 %    runs     rate       95 %    runs   step · queue · main signature",
)


def to_text(report: FlakeReport, *, everything: bool = False) -> Iterator[Text]:
    """Lines for a terminal, in reading order; `everything` shows the tests that never failed, too."""
    yield Text(window_line(report.window, report.health), style="bold")
    if not report.health.jobs:
        yield Text("nothing in the store matches; names are matched as written, capitals too")
        return
    yield Text()
    failing = [test for test in report.tests if test.own.hits or test.environment.hits]
    shown = list(report.tests) if everything else failing[:SHOWN]
    if shown:
        yield from (Text(line, style="dim") for line in HEADINGS)
        twins = Counter(_place(test.variant) for test in report.tests)
        for test in shown:
            yield Text(one_line(str(test.variant.test)), style="bold", overflow="fold")
            yield _numbers(test, with_session=twins[_place(test.variant)] > 1)
        yield Text()
    if not everything and len(failing) > SHOWN:
        yield Text(f"… {len(failing) - SHOWN:,} more that failed; --all shows every test", style="dim")
    if clean := len(report.tests) - len(failing):
        yield Text(f"{clean:,} of {len(report.tests):,} tests never failed here", style="dim")
    yield Text(health_line(report.health), style="dim")


def window_line(window: Window, health: Health) -> str:
    """What stretch of history, on which branch."""
    first, last = window.since or health.oldest, window.until or health.newest
    days = " to ".join(dict.fromkeys(f"{moment:%Y-%m-%d}" for moment in (first, last) if moment))
    return " · ".join(part for part in (window.branch or "all branches", days, plural(health.builds, "build")) if part)


def health_line(health: Health) -> str:
    """Whether the numbers above can be trusted."""
    parts = [f"data: {plural(health.jobs, 'job')}, {plural(health.attempts, 'attempt')}"]
    if health.jobs_lost:
        parts.append(f"{plural(health.jobs_lost, 'job')} lost")
    if health.jobs_without_results:
        parts.append(f"{plural(health.jobs_without_results, 'job')} without results")
    if health.attempts_unknown:
        parts.append(f"{plural(health.attempts_unknown, 'attempt')} of unknown order")
    if health.warnings:
        parts.append(f"{plural(health.warnings, 'warning')} while reading")
    if health.modes == ("failed",):
        parts.append("failed jobs only: rates have no denominator")
    if health.newest:
        parts.append(f"newest {health.newest:%Y-%m-%d %H:%M} UTC")
    return " · ".join(parts)


def _numbers(test: FlakeRate, *, with_session: bool) -> Text:
    variant = test.variant
    session = variant.session if with_session else ""
    where = " · ".join(part for part in (variant.step, variant.queue, session, test.signature) if part)
    line = Text(overflow="fold")
    for rate in (test.own, test.environment):
        share = f"{rate.rate * 100:.1f} %" if rate.n else "unknown"
        line.append(f"{share:>8}", style="bold" if rate.hits else "dim")
        line.append(f"{_band(rate):>11}", style="dim")
        line.append(f"{f'{rate.hits}/{rate.n}':>8} ")
    return line.append(f"  {one_line(where)}", style="dim")


def _band(rate: Interval) -> str:
    return f"{rate.low * 100:.1f}–{rate.high * 100:.1f}" if rate.n else "–"


def _place(variant: Variant) -> tuple[str, str, str]:
    """Variants that differ by their session alone share this: only then is the session worth a line's room."""
    return str(variant.test), variant.step, variant.queue
