"""Rates by queue, kind of GPU, machine and image, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.machines import PlaceKind, PlaceRate

from .words import one_line, plural

SURE = 0.05
"""A machine with a corrected p-value of at most this is told to be worse than the others."""

SHOWN = 20
"""Places of one kind that are told when all are asked for."""

_INDENT = (0, 0, 0, 2)


def to_json(rate: PlaceRate) -> dict[str, object]:
    """One place; `jobs` are first jobs, retries left out."""
    other = rate.elsewhere
    return {
        "kind": rate.kind.value,
        "name": rate.name,
        "jobs": rate.trouble.n,
        "trouble": rate.trouble.hits,
        "rate": rate.trouble.rate,
        "low": rate.trouble.low,
        "high": rate.trouble.high,
        "own": rate.own,
        "victims": rate.victims,
        "lost": rate.lost,
        "p_value": rate.p_value,
        "tried_elsewhere": other.tried if other else 0,
        "passed_elsewhere": other.passed if other else 0,
    }


def to_text(rates: Sequence[PlaceRate], *, everything: bool) -> Iterator[RenderableType]:
    """Renderables for a terminal, a blank line at their end; nothing where no machine is known."""
    machines = [rate for rate in rates if rate.kind is PlaceKind.MACHINE]
    if not machines:
        return
    bad = worse(rates)
    if bad:
        yield Text(f"{plural(len(bad), 'machine')} of {len(machines):,} worse than the others", style="bold")
    elif len(machines) > 1:
        yield Text(f"{plural(len(machines), 'machine')}: none differs from the others beyond chance", style="dim")
    for rate in bad:
        yield Padding(_bad_line(rate, len(machines)), _INDENT)
    if everything:
        for kind in PlaceKind:
            places = [rate for rate in rates if rate.kind is kind]
            yield from (Padding(_line(rate), _INDENT) for rate in places[:SHOWN])
            if len(places) > SHOWN:
                yield Padding(Text(f"… {len(places) - SHOWN:,} more; see the JSON", style="dim"), _INDENT)
    if bad or everything or len(machines) > 1:
        yield Text()


def worse(rates: Sequence[PlaceRate]) -> list[PlaceRate]:
    """The machines that are worse than the others beyond chance."""
    return [rate for rate in rates if rate.p_value is not None and rate.p_value <= SURE]


def counts_line(rate: PlaceRate) -> str:
    """In how much trouble a place was, of which kinds, and what else was tried elsewhere."""
    return f"{_counts(rate)}{_elsewhere(rate)}"


def _bad_line(rate: PlaceRate, machines: int) -> Text:
    line = Text(one_line(rate.name), style="bold red", overflow="fold")
    told = f"  {_counts(rate)}; by chance on some of {machines:,} machines: p = {rate.p_value:.2g}"
    return line.append(told + _elsewhere(rate), style="not bold default")


def _line(rate: PlaceRate) -> Text:
    return Text(f"{rate.kind.value:<8} {one_line(rate.name)}  {_counts(rate)}{_elsewhere(rate)}", overflow="fold")


def _counts(rate: PlaceRate) -> str:
    trouble = rate.trouble
    kinds = ((rate.own, "with failed tests"), (rate.victims, "with victims"), (rate.lost, "lost"))
    parts = ", ".join(f"{count:,} {word}" for count, word in kinds if count)
    share = f"{trouble.rate * 100:.1f} % ({trouble.low * 100:.1f}–{trouble.high * 100:.1f})"
    return f"{trouble.hits:,} of {plural(trouble.n, 'job')} in trouble, {share}" + (f": {parts}" if parts else "")


def _elsewhere(rate: PlaceRate) -> str:
    other = rate.elsewhere
    if other is None or not other.tried:
        return ""
    return f"; {other.passed:,} of {plural(other.tried, 'failure')} passed elsewhere at the same commit"
