"""What differs in the newest week, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.comparison import Change, Comparisons, WeekTable
from flake_report.model.rate import Interval, Variant

from .words import one_line, plural

SHOWN = 5
"""Tests of each list that are told unasked."""

_INDENT = (0, 0, 0, 2)


def to_json(found: Comparisons) -> dict[str, object]:
    """The value of `comparisons`."""
    return {
        "week": found.week or None,
        "weeks_before": found.before,
        "pooled": found.pooled,
        "icc": found.icc,
        "new": [_variant(variant) for variant in found.new],
        "worse": [_change(change) for change in found.worse],
        "better": [_change(change) for change in found.better],
        "vanished": [_variant(variant) for variant in found.vanished],
        "testable": found.testable,
        "untestable": found.untestable,
    }


def table_to_json(table: WeekTable) -> dict[str, object]:
    """The value of `week_counts`: what the next export compares with; newest week first."""
    rows = zip(table.variants, table.seen, table.runs, table.first_failures, strict=True)
    return {
        "weeks": list(table.weeks),
        "pools": [
            {"step": step, "queue": queue, "weeks": sorted(weeks)}
            for (step, queue), weeks in sorted(table.pools.items())
        ],
        "tests": [
            {
                **variant_keys(variant),
                "first_week": first or None,
                "last_week": last or None,
                "own_runs": list(runs),
                "first_failures": list(failures),
            }
            for variant, (first, last), runs, failures in rows
        ],
    }


def variant_keys(variant: Variant) -> dict[str, object]:
    """All that names a variant, so that it can be read back."""
    test = variant.test
    return {
        "classname": test.classname,
        "name": test.name,
        "apart": test.apart,
        "step": variant.step,
        "queue": variant.queue,
        "session": variant.session,
    }


def to_text(found: Comparisons, *, everything: bool) -> Iterator[RenderableType]:
    """Renderables for a terminal, a blank line at their end; nothing where there are no weeks to compare."""
    if not found.before:
        return
    most = None if everything else SHOWN
    counts = ((found.worse, "worse"), (found.better, "better"), (found.new, "new"), (found.vanished, "vanished"))
    yield Text(headline(found), style="bold")
    for changes, word, style in ((found.worse, "worse", "bold red"), (found.better, "better", "green")):
        for change in changes[:most]:
            yield Padding(_change_line(change, word, style), _INDENT)
    for variants, word in ((found.new, "new"), (found.vanished, "vanished")):
        for variant in variants[:most]:
            yield Padding(Text(f"{word:<9}{_where(variant)}", overflow="fold"), _INDENT)
    hidden = 0 if most is None else sum(max(len(those) - most, 0) for those, _ in counts)
    if hidden:
        yield Padding(Text(f"… {hidden:,} more; --all shows them", style="dim"), _INDENT)
    yield from (Padding(Text(line, style="dim"), _INDENT) for line in notes(found))
    yield Text()


def headline(found: Comparisons) -> str:
    """`2026-W48 against 5 weeks before: 1 worse · 0 better · 2 new · 0 vanished`."""
    counts = ((found.worse, "worse"), (found.better, "better"), (found.new, "new"), (found.vanished, "vanished"))
    told = " · ".join(f"{len(those):,} {word}" for those, word in counts)
    return f"{found.week} against {plural(found.before, 'week')} before: {told}"


def notes(found: Comparisons) -> Iterator[str]:
    """What the lists of worse and better tests cannot tell."""
    what = "test" if found.pooled else "variant"
    if found.pooled:
        yield "so few runs a week show nothing of single variants: the parameters of each test are counted together"
    if found.testable:
        compared = found.testable + found.untestable
        yield f"{found.untestable:,} of {plural(compared, what)} have too few failures or runs to tell"
    else:
        yield f"no {what} has enough failures and runs to tell: the lists of worse and better are empty by construction"


def _change_line(change: Change, word: str, style: str) -> Text:
    pooled = f" ({plural(change.variants, 'variant')})" if change.variants > 1 else ""
    line = Text(f"{word:<9}", style=style, overflow="fold")
    line.append(f"{rate_words(change.now)}, was {rate_words(change.before)}  ", style="not bold default")
    return line.append(f"{_where(change.variant)}{pooled}", style="not bold default")


def rate_words(rate: Interval) -> str:
    """`7.1 % (12/170)`."""
    return f"{rate.rate * 100:.1f} % ({rate.hits:,}/{rate.n:,})"


def _where(variant: Variant) -> str:
    return one_line(" · ".join(part for part in (str(variant.test), variant.step, variant.queue) if part))


def _variant(variant: Variant) -> dict[str, object]:
    return {
        "test": variant.test.label,
        "apart": variant.test.apart,
        "step": variant.step,
        "queue": variant.queue,
        "session": variant.session,
    }


def _change(change: Change) -> dict[str, object]:
    return {
        **_variant(change.variant),
        "variants": change.variants,
        "now": _counts(change.now),
        "before": _counts(change.before),
        "p_value": change.p_value,
    }


def _counts(rate: Interval) -> dict[str, object]:
    return {
        "own_runs": rate.n,
        "first_failures": rate.hits,
        "rate": rate.rate,
        "low": rate.low,
        "high": rate.high,
    }
