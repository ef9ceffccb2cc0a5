"""Which setting fits a test, as a page of text with a table to paste into a pull request, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from flake_report.model.memory import GIB, Fit, Refusal, Risk, Tuning

from .words import one_line, plural, stamp

COLUMNS = 2
"""So many different failures get a column each; more are counted, for a terminal of 80 columns holds no more."""

SEEN = 3
"""So many different failures are told, those with least free."""

_UNSURE = 0.01 * GIB  # both numbers are rounded to half of it


def to_json(tuning: Tuning) -> dict[str, object]:
    """The stable keys of one tuning; sizes in bytes, risks between 0 and 1."""
    return {
        "test": tuning.test,
        "step": tuning.place.step,
        "queue": tuning.place.queue,
        "device": tuning.device,
        "total": tuning.total or None,
        "starts": tuning.starts,
        "current": tuning.current,
        "advised": tuning.advised,
        "fit": tuning.fit.value,
        "advice": advice(tuning),
        "budget": tuning.budget,
        "needed_starts": tuning.needed_passes,
        "need": tuning.need,
        "held": tuning.held,
        "least_kv": tuning.least_kv,
        "lowest_started": tuning.floor,
        "leftover": tuning.leftover,
        "advised_if_mirrored": tuning.mirrored_advice,
        "refusals": [_refusal_json(one) for one in tuning.refusals],
        "risks": [_risk_json(one) for one in tuning.risks],
    }


def _refusal_json(refusal: Refusal) -> dict[str, object]:
    return {
        "build": refusal.build,
        "job": refusal.job,
        "at": stamp(refusal.created_at),
        "utilization": refusal.utilization,
        "free": refusal.free,
        "asked": refusal.asked,
        "used": refusal.used,
        "mirrored": refusal.mirrored,
    }


def _risk_json(risk: Risk) -> dict[str, object]:
    return {
        "utilization": risk.utilization,
        "asks": risk.asks or None,
        "rate": risk.rate if risk.known else None,
        "low": risk.low,
        "high": risk.high if risk.known else 1.0,
        "at_most": risk.at_most if risk.known else 1.0,
    }


def to_text(tunings: Sequence[Tuning], *, everything: bool) -> Iterator[Text | Table]:
    """Renderables for a terminal; tests that were never refused are only counted unless `everything` is asked for."""
    shown = [one for one in tunings if everything or one.refusals]
    for number, tuning in enumerate(shown):
        if number:
            yield Text()
        yield from _page(tuning)
    if quiet := len(tunings) - len(shown):
        if shown:
            yield Text()
        yield Text(f"{quiet:,} more {'was' if quiet == 1 else 'were'} never refused; --all shows all", style="dim")


def _page(tuning: Tuning) -> Iterator[Text | Table]:
    card = f"{tuning.device or 'card'} of {gib(tuning.total)} GiB" if tuning.total else "card of unknown size"
    refused = f"{len(tuning.refusals)} refused" if tuning.refusals else "none refused"
    where = " · ".join(part for part in (tuning.place.step, tuning.place.queue, card) if part)
    yield Text(one_line(tuning.test), style="bold", overflow="fold")
    yield Text(f"{where} · {plural(tuning.starts, 'start')}, {refused}", style="dim")
    yield Text()
    yield from (Text(line, no_wrap=True, overflow="ignore") for line in table(tuning))
    yield Text()
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=6, style="dim")
    grid.add_column(overflow="fold")
    for name, says in _facts(tuning):
        grid.add_row(name, Text(says))
    yield grid


def table(tuning: Tuning) -> list[str]:
    """What each setting would have done with each failure seen, and its risk: a Markdown table, aligned.

    `starts` and `refused` are by the numbers of the log; `close` where their rounding decides.
    """
    frees = sorted({refusal.free for refusal in tuning.refusals})
    own = frees if len(frees) <= COLUMNS else []
    heads = ["setting", "asks GiB", *(f"{gib(free)} free" for free in own)]
    heads += [] if own or not frees else ["refused"]
    rows = [[*_cells(tuning, risk, own), *_risk_cells(risk)] for risk in tuning.risks]
    return _markdown([*heads, "risk", "95 % band"], rows)


def _cells(tuning: Tuning, risk: Risk, own: Sequence[int]) -> list[str]:
    asked = next((one.asked for one in tuning.refusals if one.utilization == risk.utilization), risk.asks)
    told = [f"{risk.utilization:g}", gib(asked) if asked else "?"]
    if own:
        return [*told, *(_would(tuning, risk.utilization, asked, free) for free in own)]
    if tuning.refusals:
        met = [_would(tuning, risk.utilization, asked, refusal.free) for refusal in tuning.refusals]
        return [*told, f"{sum(one != 'starts' for one in met)} of {len(met)}"]
    return told


def _would(tuning: Tuning, utilization: float, asked: int, free: int) -> str:
    if any(one.free == free and one.utilization == utilization for one in tuning.refusals):
        return "refused"
    if abs(asked - free) <= _UNSURE:
        return "close"
    return "refused" if free < asked else "starts"


def _risk_cells(risk: Risk) -> list[str]:
    if not risk.known:
        return ["?", f"{percent(risk.low)}–100"]
    return [f"{percent(risk.rate)} %", f"{percent(risk.low)}–{percent(risk.high)}"]


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    lines = ["| " + " | ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) + " |"
             for row in (heads, *rows)]  # fmt: skip
    return [lines[0], "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|", *lines[1:]]


def _facts(tuning: Tuning) -> Iterator[tuple[str, str]]:
    frees = sorted({refusal.free for refusal in tuning.refusals})
    for free in reversed(frees[:SEEN]):
        yield "seen", _seen([refusal for refusal in tuning.refusals if refusal.free == free])
    if len(frees) > SEEN:
        yield "", f"… {len(frees) - SEEN:,} more, with more free"
    if needs := _needs(tuning):
        yield "needs", needs
    yield "do", advice(tuning)
    if tuning.refusals and tuning.fit is not Fit.CLEAN:
        most = max(refusal.used for refusal in tuning.refusals)
        yield "or", f"clear what was left before the test: up to {gib(most)} GiB were in use"
    if (tuning.mirrored_advice or 0) > (tuning.advised or 0):
        yield "or", f"{tuning.mirrored_advice:g}, if what is left shrinks with the setting of the engine that left it"
    if tuning.leftover:
        yield "", f"what no setting mends: {gib(tuning.leftover)} GiB of leftover must go first"
    if tuning.ignored:
        yield "", f"{plural(tuning.ignored, 'start')} left out: nothing says on which size of card"


def _seen(refusals: Sequence[Refusal]) -> str:
    first = refusals[0]
    builds = list(dict.fromkeys(one.build for one in refusals))
    which = f"{'build' if len(builds) == 1 else 'builds'} {', '.join(builds[:3])}{' …' if len(builds) > 3 else ''}"
    says = f"{gib(first.free)} of {gib(first.total)} GiB free, {gib(first.asked)} asked ({which})"
    if first.mirrored:
        says += (
            f"; the {gib(first.used)} in use are about what {first.utilization:g} asks for: perhaps an engine of an "
            "earlier test with the same setting, which would shrink with it"
        )
    return says


def _needs(tuning: Tuning) -> str:
    parts = []
    if tuning.need is not None:
        parts.append(f"at least {gib(tuning.need)} GiB besides its KV cache")
    if tuning.least_kv is not None:
        parts.append(f"{gib(tuning.least_kv)} GiB of KV cache was the least that it came up with")
    if tuning.floor is not None:
        parts.append(f"the lowest setting that came up is {tuning.floor:g}")
    if tuning.held:
        parts.append(f"the recorder saw {gib(tuning.held)} GiB held at its end")
    return "; ".join(parts)


def advice(tuning: Tuning) -> str:
    """What to set, in words that say no more than the data do."""
    budget = f"{tuning.budget * 100:g} %"
    risk = next((one for one in tuning.risks if one.utilization == tuning.advised), None)
    bound = f"at most {percent(risk.at_most)} %" if risk is not None and risk.known else "unknown"
    if tuning.fit is Fit.CLEAN or tuning.advised is None:
        worst = min(refusal.free for refusal in tuning.refusals)
        need = f", and the test needs {gib(tuning.need)} besides its KV cache" if tuning.need else ""
        return f"no setting mends this: {gib(worst)} GiB were free at the worst{need}; the leftover must go first"
    if tuning.fit is Fit.CERTIFIED:
        keep = "keep" if tuning.advised == tuning.current else "set"
        sure = f"95 % sure, {plural(tuning.starts, 'start')}"
        untried = _untried(tuning, tuning.advised)
        return f"{keep} {tuning.advised:g}: the risk is {bound}, within the budget of {budget} ({sure}){untried}"
    here = "there is 1" if tuning.starts == 1 else f"there are {tuning.starts:,}"
    certify = f"to certify {budget} takes {tuning.needed_passes:,} starts without a refusal; {here}"
    if not tuning.refusals:
        return f"{tuning.advised:g} was never refused; its risk is {bound} (95 % sure): {certify}"
    return (
        f"{tuning.advised:g} is the largest that would have passed every failure seen, which is not yet safe: its risk "
        f"is {bound} (95 % sure), and {certify}{_untried(tuning, tuning.advised)}"
    )


def _untried(tuning: Tuning, advised: float) -> str:
    """A warning where no engine came up with so little."""
    if tuning.floor is None or advised >= tuning.floor:
        return ""
    cache = max(round(tuning.total * advised) - (tuning.need or 0), 0)
    leaves = f"{advised:g} leaves at most {gib(cache)} GiB of KV cache, and " if tuning.need and tuning.total else ""
    return f"; {leaves}no engine here came up below {tuning.floor:g}: try whether the test runs with so little"


def gib(size: int | None) -> str:
    """Bytes in GiB, with the two decimals that logs have."""
    return f"{(size or 0) / GIB:.2f}"


def percent(share: float) -> str:
    """A share in percent, with one decimal."""
    return f"{share * 100:.1f}"
