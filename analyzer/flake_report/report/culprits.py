"""Who left the memory, in words that say how it is known, and which run would tell where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log
from shlex import quote

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.memory import GIB, LEAST_FOR_SUSPECTS, Basis, Suspicion
from flake_report.model.query import node_id

from .words import one_line, plural

SHOWN = 5
"""Suspects that are shown."""

INDENT = (0, 0, 0, 2)

SURE = 0.95
"""The probability at which something is said, and with which a run that is repeated would have met an incident."""


def to_json(suspicion: Suspicion) -> dict[str, object]:
    """The stable keys of one place; `left` in bytes, probabilities between 0 and 1."""
    return {
        "step": suspicion.place.step,
        "queue": suspicion.place.queue,
        "session": suspicion.place.session,
        "incidents": suspicion.incidents,
        "jobs": suspicion.jobs,
        "victim": suspicion.victim,
        "basis": suspicion.basis.value,
        "culprit": suspicion.culprit.test if suspicion.culprit else None,
        "suspects": [
            {"test": one.test, "probability": one.probability, "left": one.left} for one in suspicion.suspects
        ],
        "outside": suspicion.outside,
        "orders": suspicion.orders,
        "measured": suspicion.measured,
        "sentence": sentence(suspicion),
        "experiment": experiment(suspicion),
    }


def to_text(suspicion: Suspicion) -> Iterator[RenderableType]:
    """Renderables for a terminal: what is known, who is suspected, what to run."""
    place = suspicion.place
    where = " · ".join(part for part in (place.step, place.queue) if part)
    incidents = f"{plural(suspicion.incidents, 'incident')} in {plural(suspicion.jobs, 'job')}"
    yield Text.assemble(("GPU memory was missing: ", "bold"), (one_line(where), "bold"), (f" · {incidents}", "dim"))
    lines = [Text(sentence(suspicion), overflow="fold")]
    if suspicion.culprit is None:
        lines += [
            Text(f"{(one.probability or 0) * 100:>3.0f} %  {one_line(one.test)}", overflow="fold")
            for one in suspicion.suspects[:SHOWN]
        ]
    if suspicion.culprit is None and len(suspicion.suspects) > SHOWN:
        lines.append(Text(f"… {len(suspicion.suspects) - SHOWN:,} more", style="dim"))
    if run := experiment(suspicion):
        lines.append(Text.assemble(("do  ", "dim"), run, overflow="fold"))
    yield from (Padding(line, INDENT) for line in lines)


def sentence(suspicion: Suspicion) -> str:
    """Who left the memory and how that is known; else why it is not."""
    culprit = suspicion.culprit
    if culprit is not None and suspicion.basis is Basis.SAMPLES:
        left = f"{(culprit.left or 0) / GIB:.2f} GiB"
        of = f"{culprit.times:,} of " if culprit.times < suspicion.measured else ""
        return f"{culprit.test} left {left}, measured by the recorder in {of}{plural(suspicion.measured, 'incident')}"
    if culprit is not None:
        return f"{culprit.test} left it, by the order of tests: {_likely(culprit.probability)} likely"
    if suspicion.measured:
        return "the recorder's samples show no single test that left it: it came between tests, or was there before"
    return _by_order(suspicion)


def _by_order(suspicion: Suspicion) -> str:
    """Why nobody is named, where nothing was measured."""
    if _from_outside(suspicion):
        return "the order of tests speaks for none of them: the memory was taken from outside this process (95 % sure)"
    if suspicion.incidents < LEAST_FOR_SUSPECTS:
        few = plural(suspicion.incidents, "incident")
        return f"{few} cannot tell by the order of tests who left it; it takes {LEAST_FOR_SUSPECTS}"
    if not suspicion.suspects:
        ran = "always ran in one order" if suspicion.orders == 1 else f"ran in {suspicion.orders:,} orders only"
        return f"nobody is suspected: the tests {ran}"
    pairs = (
        f"; {plural(len(suspicion.unseparated), 'pair')} of them always ran in one order"
        if suspicion.unseparated
        else ""
    )
    return f"one of {plural(len(suspicion.suspects), 'test')} left it, by the order of tests{pairs}"


def _from_outside(suspicion: Suspicion) -> bool:
    return suspicion.outside is not None and suspicion.outside >= SURE


def experiment(suspicion: Suspicion) -> str:
    """The run that would tell: half of the suspects before a victim, as often as an incident takes to come."""
    if suspicion.culprit is not None or suspicion.measured:
        return ""
    if not suspicion.suspects or _from_outside(suspicion):
        return "record the memory around each test: GPU_GUARD_RECORD=test-results pytest …"
    half = [one.test for one in suspicion.suspects[: max(len(suspicion.suspects) // 2, 1)]]
    tests = " ".join(quote(node_id(test)) for test in (*half, suspicion.victim))
    return f"run {repeats(suspicion.rate):,} times: pytest {tests}; if the last one fails, the culprit runs before it"


def repeats(rate: float) -> int:
    """Runs after which an incident of this rate would have come, with 95 % probability."""
    return ceil(log(1 - SURE) / log(1 - rate)) if 0 < rate < 1 else 1


def _likely(probability: float | None) -> str:
    share = (probability or 0) * 100
    return "over 99 %" if share > 99 else f"{share:.0f} %"
