"""GPU memory and its cost in a history's report: the parts joined, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.memory import MemoryReport
from flake_report.model.report import FlakeReport

from . import cost, culprits, tuning
from .words import plural

SHOWN = 2
"""Places whose incidents are told unasked."""


def to_json(report: FlakeReport) -> dict[str, object]:
    """The stable keys that GPU memory adds to a report."""
    memory = report.memory
    return {
        "culprits": [culprits.to_json(one) for one in memory.suspicions],
        "tuning": [tuning.to_json(one) for one in memory.tunings],
        "diagnoses": [
            {
                "kind": one.kind,
                "step": one.place.step,
                "queue": one.place.queue,
                "events": one.events,
                "jobs": one.jobs,
            }
            for one in memory.diagnoses
        ],
        "cost": cost.to_json(report.cost) if report.cost else None,
    }


def to_text(report: FlakeReport, *, everything: bool) -> Iterator[RenderableType]:
    """Renderables for a terminal, each part only where there is something to say; a blank line ends each."""
    memory = report.memory
    shown = memory.suspicions if everything else memory.suspicions[:SHOWN]
    for one in shown:
        yield from culprits.to_text(one)
    if more := len(memory.suspicions) - len(shown):
        yield Text(f"… {plural(more, 'more place')} with incidents of GPU memory; --all shows them", style="dim")
    if line := diagnosis_line(memory):
        yield Padding(Text(line, style="dim"), culprits.INDENT)
    if refused := len({(one.test, one.place) for one in memory.tunings if one.refusals}):  # cards stand apart there
        told = f"{plural(refused, 'test')} refused memory: flake-report tune tells which setting fits"
        yield Padding(Text(told, style="dim"), culprits.INDENT)
    if memory.suspicions or line or refused:
        yield Text()
    if report.cost and (report.cost.hours or report.cost.money):
        yield from cost.to_text(report.cost, shown=cost.SHOWN if everything else 1)
        yield Text()


def diagnosis_line(memory: MemoryReport) -> str:
    """How many events have which diagnosis, most frequent first."""
    counted: Counter[str] = Counter()
    for one in memory.diagnoses:
        counted[one.kind] += one.events
    told = " · ".join(
        f"{events:,} {kind}" for kind, events in sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    )
    return f"diagnosed: {told}" if told else ""
