"""A history as Markdown: for a comment on a pull request, and for the annotation of a weekly build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake_report.model.comparison import Change
from flake_report.model.incident import IncidentKind
from flake_report.model.rate import FlakeRate, Interval, Variant
from flake_report.model.report import FlakeReport
from flake_report.model.verdict import TestVerdict

from . import machines, memory, weekly
from .annotation import Style, shown_artifacts
from .links import job_url
from .markdown import code, fitted, link, plain
from .table import health_line, verdict_line, window_line
from .words import plural

LIMIT = 65_000
"""Bytes: GitHub takes comments of 65,536 characters."""

SHOWN = 20
"""Rows of one list that are shown unasked."""

_TABLE = "| first attempt failed | passed on retry | environment failed | test |\n|--:|--:|--:|---|"
"""Numbers first: names are long, and would leave them no room."""


def to_markdown(
    report: FlakeReport, *, everything: bool = False, artifacts: Sequence[str] = (), limit: int = LIMIT
) -> str:
    """The tests that failed, worst first, after what differs this week; `artifacts` as an annotation shows them.

    `everything` lists the tests that never failed, too, as far as there is room.
    """
    told = report.comparisons
    failing = [test for test in report.tests if everything or test.own.hits or test.environment.hits or test.breakages]
    sections = [
        ("#### Worse this week\n", [_change(change) for change in told.worse]),
        ("#### New this week\n", [_where(variant) for variant in told.new]),
        (
            f"#### {plural(len(failing), 'test')} {'in all' if everything else 'that failed'}\n\n{_TABLE}",
            _rows(report, failing),
        ),
        ("#### Better this week\n", [_change(change) for change in told.better]),
        ("#### Incidents of the environment\n", [_incident(kind) for kind in report.incident_kinds]),
        (
            "#### Machines worse than the others\n",
            [f"- {code(rate.name)} · {plain(machines.counts_line(rate))}" for rate in machines.worse(report.agents)],
        ),
    ]
    most = len(report.tests) if everything else SHOWN
    return fitted("\n".join(_head(report)), sections, "\n".join(_tail(report, artifacts)), limit, most)


def style(report: FlakeReport) -> Style:
    """A history is never an error of the build that tells it."""
    bad = report.comparisons.worse or any(test.verdict is TestVerdict.BROKEN for test in report.tests)
    return Style.WARNING if bad else Style.INFO


def headline(report: FlakeReport) -> str:
    """One line: what differs this week, or where no weeks can be compared, which verdicts there are."""
    return weekly.headline(report.comparisons) if report.comparisons.before else verdict_line(report).plain


def _head(report: FlakeReport) -> Iterator[str]:
    yield f"**{plain(window_line(report.window, report.health))}** · budget {report.budget * 100:g} %"
    yield ""
    if not report.health.jobs:
        yield "Nothing in the store matches."
        return
    yield f"- {plain(verdict_line(report).plain)}"
    if report.comparisons.before:
        yield f"- {plain(weekly.headline(report.comparisons))}"
        yield from (f"  - {plain(note)}" for note in weekly.notes(report.comparisons))
    if line := memory.diagnosis_line(report.memory):
        yield f"- GPU memory, {plain(line)}"
    if report.cost and report.cost.hours:
        yield f"- {report.cost.hours:.1f} GPU-hours lost to failures that were no regression"
    yield ""


def _tail(report: FlakeReport, artifacts: Sequence[str]) -> Iterator[str]:
    yield plain(health_line(report.health))
    yield from shown_artifacts(artifacts)


def _rows(report: FlakeReport, tests: Sequence[FlakeRate]) -> list[str]:
    return [f"| {' | '.join(_cells(report, test))} |" for test in tests]


def _cells(report: FlakeReport, test: FlakeRate) -> Iterator[str]:
    yield _rate(test.own)
    yield f"{test.recovery.hits}/{test.recovery.n}" if test.recovery.n else "–"
    yield _rate(test.environment)
    ways = report.ways.get(test.variant, ())
    last = max(ways, key=lambda way: way.last.created_at, default=None)
    seen = f" · last in {link(plain(last.last.label), job_url(last.last, last.job))}" if last else ""
    yield f"{_named(test.variant)} · **{test.verdict.value}**: {plain(test.reason)}{seen}"


def _rate(rate: Interval) -> str:
    """On one line, whatever the width of its column."""
    if not rate.n:
        return "unknown"
    told = f"{rate.rate * 100:.1f} % ({rate.low * 100:.1f}–{rate.high * 100:.1f}) {rate.hits}/{rate.n}"
    return told.replace(" ", "&nbsp;")


def _named(variant: Variant) -> str:
    return " · ".join(code(part) for part in (str(variant.test), variant.step, variant.queue) if part)


def _change(change: Change) -> str:
    pooled = f" ({plural(change.variants, 'variant')})" if change.variants > 1 else ""
    now, before = weekly.rate_words(change.now), weekly.rate_words(change.before)
    return f"{_where(change.variant)}{pooled}: {now}, was {before}"


def _where(variant: Variant) -> str:
    return f"- {_named(variant)}"


def _incident(kind: IncidentKind) -> str:
    days = " to ".join(dict.fromkeys(f"{build.created_at:%Y-%m-%d}" for build in (kind.first, kind.last)))
    new = " · new this week" if kind.new else ""
    victims = plural(kind.victims, "test")
    return f"- {kind.incidents:,}× {code(kind.signature)} ({kind.blame.value}) · {victims} · {days}{new}"
