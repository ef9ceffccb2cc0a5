"""A history for the terminal: the tests that failed, worst first, then whether the data can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.rate import FlakeRate, Interval, Variant
from flake_report.model.report import FlakeReport, Health, Window
from flake_report.model.results import TestId
from flake_report.model.verdict import TestVerdict

from . import incidents, machines, memory, rollups, weekly
from .words import one_line, plural

SHOWN = 20
"""Tests that are shown unasked."""

INDENT = (0, 0, 0, 2)

STYLES = {
    TestVerdict.BROKEN: "bold red",
    TestVerdict.FLAKY: "bold yellow",
    TestVerdict.RECOVERED: "green",
    TestVerdict.HEALTHY: "green",
}
"""How a verdict is coloured; one that is not here is not coloured."""


def to_text(report: FlakeReport, *, everything: bool = False) -> Iterator[RenderableType]:
    """Lines for a terminal, in reading order; `everything` shows the tests that never failed, too."""
    pipelines = len({(build.org, build.pipeline) for build in report.builds})
    several = f" · {pipelines:,} pipelines, counted together" if pipelines > 1 else ""
    about = f"{window_line(report.window, report.health)}{several} · budget {report.budget * 100:g} %"
    yield Text(about, style="bold")
    if not report.health.jobs:
        yield Text("nothing in the store matches; names are matched as written, capitals too")
        return
    yield Text()
    failing = [test for test in report.tests if test.troubled]
    shown = list(report.tests) if everything else failing[:SHOWN]
    if shown:
        widths = _Widths.of(shown)
        yield from (Text(line, style="dim", no_wrap=True) for line in widths.headings())
        names = {test.variant.test for test in shown}
        twins = Counter(_place(test.variant) for test in report.tests if test.variant.test in names)
        for test in shown:
            yield from _told(test, widths, with_session=twins[_place(test.variant)] > 1)
        yield Text()
    if not everything and len(failing) > SHOWN:
        yield Text(f"… {len(failing) - SHOWN:,} more that failed; --all shows every test", style="dim")
    yield from rollups.to_text(report.rollups, everything=everything)
    yield from weekly.to_text(report.comparisons, everything=everything)
    yield from incidents.to_text(report.incidents, report.incident_kinds, everything=everything)
    yield from memory.to_text(report, everything=everything)
    yield from machines.to_text(report.agents, everything=everything)
    yield verdict_line(report)
    yield Text(health_line(report.health), style="dim")


def window_line(window: Window, health: Health) -> str:
    """What stretch of history, on which branch."""
    first, last = window.since or health.oldest, window.until or health.newest
    days = " to ".join(dict.fromkeys(f"{moment:%Y-%m-%d}" for moment in (first, last) if moment))
    return " · ".join(part for part in (window.branch or "all branches", days, plural(health.builds, "build")) if part)


def verdict_line(report: FlakeReport) -> Text:
    """How many tests have which verdict; one that runs in several places has a verdict in each."""
    counted = Counter(test.verdict for test in report.tests)
    told = (f"{counted[verdict]:,} {verdict.value}" for verdict in TestVerdict if counted[verdict])
    tests, variants = len({test.variant.test for test in report.tests}), len(report.tests)
    what = plural(tests, "test") + (f" in {plural(variants, 'variant')}" if variants > tests else "")
    return Text(f"{what}: {' · '.join(told)}", style="dim")


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


class _Widths(NamedTuple):
    """Characters of the columns whose numbers grow with the history: the runs of both rates, and those tried again."""

    own: int
    recovery: int
    environment: int

    @classmethod
    def of(cls, shown: Sequence[FlakeRate]) -> _Widths:
        return cls(
            max(8, *(len(_runs(test.own)) + 2 for test in shown)),
            max(10, *(len(_runs(test.recovery)) + 2 for test in shown)),
            max(8, *(len(_runs(test.environment)) + 2 for test in shown)),
        )

    def headings(self) -> Iterator[str]:
        rate = "    rate       95 %"
        first = f"{'   first attempt failed':<{len(rate) + self.own}}"
        yield f"{first}    over{'passed':>{self.recovery}}    environment failed"
        yield f"{rate}{'runs':>{self.own}}  budget{'on retry':>{self.recovery}}{rate}{'runs':>{self.environment}}"


def _told(test: FlakeRate, widths: _Widths, *, with_session: bool) -> Iterator[RenderableType]:
    """One test: its name, where it runs, why its verdict is what it is, and the numbers."""
    variant = test.variant
    session = variant.session if with_session else ""
    where = " · ".join(part for part in (variant.step, variant.queue, session, test.signature) if part)
    yield Text(one_line(str(variant.test)), style="bold", overflow="fold")
    yield Padding(Text(one_line(where), style="dim", overflow="fold"), INDENT)
    yield Padding(verdict_text(test), INDENT)
    yield _numbers(test, widths)


def verdict_text(test: FlakeRate) -> Text:
    """`flaky: build 812 both failed and passed at one commit`."""
    also = ", and flaky before" if test.also_flaky else ""
    line = Text(f"{test.verdict.value}{also}", style=STYLES.get(test.verdict, "bold"), overflow="fold")
    bouts = ""
    if test.unsteady and test.verdict is TestVerdict.FLAKY:  # a regression's weeks differ anyhow
        bouts = "; it fails in bouts: the interval is too narrow for other weeks"
    return Text.assemble(line, f": {one_line(test.reason)}{bouts}", overflow="fold")


def _numbers(test: FlakeRate, widths: _Widths) -> Text:
    line = Text(no_wrap=True)
    _rate(line, test.own, widths.own)
    over = f"{test.over_budget * 100:.0f} %" if test.own.n else "–"
    line.append(f"{over:>8}", style="dim")
    recovered = _runs(test.recovery) if test.recovery.n else "–"
    line.append(f"{recovered:>{widths.recovery}}", style="dim")
    _rate(line, test.environment, widths.environment)
    return line


def _rate(line: Text, rate: Interval, runs: int) -> None:
    share = f"{rate.rate * 100:.1f} %" if rate.n else "unknown"
    line.append(f"{share:>8}", style="bold" if rate.hits else "dim")
    line.append(f"{_band(rate):>11}", style="dim")
    line.append(f"{_runs(rate):>{runs}}")


def _runs(rate: Interval) -> str:
    return f"{rate.hits:,}/{rate.n:,}"


def _band(rate: Interval) -> str:
    return f"{rate.low * 100:.1f}–{rate.high * 100:.1f}" if rate.n else "–"


def _place(variant: Variant) -> tuple[TestId, str, str]:
    """Variants that differ by their session alone share this: only then is the session worth a line's room."""
    return variant.test, variant.step, variant.queue
