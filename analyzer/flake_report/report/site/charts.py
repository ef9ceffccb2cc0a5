"""The charts of a report: made once, as SVG inside the page and as PNG for annotations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count as naturals
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

from flake_report.model.evidence import iso_week
from flake_report.model.memory import GIB

Json = Mapping[str, Any]

INK, FAINT, BAD, STRUCK, CALM = "#1b1f24", "#8b949e", "#c9302c", "#d98200", "#2a6fb0"
"""Colours by their role; in the page the style sheet puts those of the theme in their place."""

SERIES = (CALM, STRUCK, BAD, "#6f42c1", "#1a7f64", FAINT)
"""Colours of what has no role of its own, such as signatures; the last is for all others together."""

WIDTH, HEIGHT = 520, 150


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: `told` says in words what it shows, for those who do not see it. `spec` is Vega-Lite's."""

    name: str
    title: str
    told: str
    spec: dict[str, Any]

    @property
    def svg(self) -> Markup:
        """The chart as an element to stand in a page; names inside it are its own."""
        text = vl_convert.vegalite_to_svg(self.spec)
        text = re.sub(r'(id="|url\(#)(?=\w)', rf"\g<1>{self.name}-", text)
        text = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", text)  # the page tells it as one picture
        return Markup(text)  # noqa: S704  # vl-convert escapes what it is given

    @property
    def png(self) -> bytes:
        """The same on white, twice as fine as the screen."""
        data: bytes = vl_convert.vegalite_to_png({**self.spec, "background": "white"}, scale=2)
        return data


def charts(data: Json) -> list[Chart]:
    """Every chart for which the report has numbers."""
    made = (draw(data) for draw in CHARTS)
    return [chart for chart in made if chart is not None]


def weeks(data: Json) -> Chart | None:
    """Failed runs of each week, those of the test itself and those of the environment."""
    if not any(week["first_failures"] or week["victims"] for week in data["weeks"]):
        return None
    kinds = (("first_failures", "first attempt failed"), ("victims", "environment failed"))
    values = [
        {"week": week["week"], "kind": kind, "runs": week[name]} for week in data["weeks"] for name, kind in kinds
    ]
    bars = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("week:O", title=None),
            y=_counted("runs", (week["first_failures"] + week["victims"] for week in data["weeks"])),
            color=alt.Color(
                "kind:N", title=None, scale=alt.Scale(domain=[kind for _, kind in kinds], range=[BAD, STRUCK])
            ),
        )
    )
    newest = data["weeks"][-1]
    told = f"{newest['week']}: {newest['first_failures']} failed first, {newest['victims']} by the environment"
    return _chart("weeks", "Failed runs by week", told, bars)


def incidents(data: Json) -> Chart | None:
    """Incidents of each week by signature; past the five most frequent all others are one."""
    counted = Counter((iso_week(datetime.fromisoformat(one["at"])), one["signature"]) for one in data["incidents"])
    if not counted:
        return None
    total: Counter[str] = Counter()
    for (_, signature), count in counted.items():
        total[signature] += count
    leading = [signature for signature, _ in total.most_common(len(SERIES) - 1)]
    stacked: Counter[tuple[str, str]] = Counter()
    for (week, signature), count in counted.items():
        stacked[week, signature if signature in leading else "others"] += count
    values = [{"week": week, "signature": name, "incidents": count} for (week, name), count in stacked.items()]
    names = [*leading, *(["others"] if len(total) > len(leading) else [])]
    known = [week["week"] for week in data["weeks"]]
    weekly = Counter(iso_week(datetime.fromisoformat(one["at"])) for one in data["incidents"])
    bars = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("week:O", title=None, scale=alt.Scale(domain=sorted({*known, *(week for week, _ in counted)}))),
            y=_counted("incidents", weekly.values()),
            color=alt.Color("signature:N", title=None, scale=alt.Scale(domain=names, range=list(SERIES[: len(names)]))),
        )
    )
    told = ", ".join(f"{total[name]} {name}" for name in leading)
    return _chart("incidents", "Incidents by week and signature", told, bars)


def memory(data: Json) -> Chart | None:
    """What was free and what was asked for whenever an engine was refused, by week and pool."""
    values = [
        {
            "pool": one["queue"] or "no queue",
            "week": iso_week(datetime.fromisoformat(refusal["at"])),
            "kind": kind,
            "gib": refusal[name] / GIB,
        }
        for one in data["tuning"]
        for refusal in one["refusals"]
        for name, kind in (("free", "free"), ("asked", "requested"))
    ]
    if not values:
        return None
    pools = list(Counter(str(one["pool"]) for one in values))
    shown = pools[:4]
    kinds = ["free", "requested"]
    marks = (
        alt.Chart(alt.InlineData(values=[one for one in values if one["pool"] in shown]))
        .mark_point(filled=True, size=60, opacity=0.8)
        .encode(
            x=alt.X("week:O", title=None),
            xOffset=alt.XOffset("kind:N"),
            y=alt.Y("gib:Q", title="GiB", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4)),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[CALM, BAD])),
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds, range=["circle", "diamond"])),
        )
        .properties(width=max(WIDTH // len(shown) - 30, 110), height=HEIGHT)
        .facet(column=alt.Column("pool:N", title=None, header=alt.Header(labelLimit=200)))
    )
    least = min(float(one["gib"]) for one in values if one["kind"] == "free")
    hidden = f"; {len(pools) - len(shown)} more pools are in report.json" if len(pools) > len(shown) else ""
    told = f"{len(values) // 2} refusals, at the worst {least:.2f} GiB were free{hidden}"
    return _chart("memory", "Free against requested GPU memory, where an engine was refused", told, marks, sized=True)


def risk(data: Json) -> Chart | None:
    """The risk of each setting of the test that was refused most, with its band."""
    refused = [one for one in data["tuning"] if one["refusals"]]
    if not refused:
        return None
    most = max(refused, key=lambda one: len(one["refusals"]))
    values = [one for one in most["risks"] if one["rate"] is not None]
    if not values:
        return None
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X(
            "utilization:Q",
            title="gpu_memory_utilization",
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(tickCount=6, labelOverlap=True),
        )
    )
    axis = alt.Axis(format="%", tickCount=4)
    band = base.mark_area(opacity=0.25, color=CALM, interpolate="step-after").encode(
        y=alt.Y("low:Q", title="refused", axis=axis), y2="high:Q"
    )
    line = base.mark_line(color=CALM, interpolate="step-after").encode(y=alt.Y("rate:Q", axis=axis))
    told = f"{most['test']}: {most['advice']}"
    return _chart("risk", f"Risk of a setting, with its 95 % band: {_short(most['test'])}", told, band + line)


CHARTS: tuple[Callable[[Json], Chart | None], ...] = (weeks, incidents, memory, risk)
"""A new chart is a new row; the page has room for five."""


def _counted(name: str, counts: Iterable[int]) -> alt.Y:
    """An axis for counts: a few ticks, all of them whole."""
    most = max(counts, default=0)
    steps = (factor * 10**power for power in naturals() for factor in (1, 2, 5))
    step = next(each for each in steps if each * 5 >= most)
    ticks = list(range(0, most + step, step))
    return alt.Y(
        f"{name}:Q", title=name, axis=alt.Axis(values=ticks, format=",d"), scale=alt.Scale(domain=[0, ticks[-1]])
    )


def _short(test: str) -> str:
    name = test.rpartition("::")[2]
    return name if len(name) <= 60 else f"{name[:60]}…"


def _chart(name: str, title: str, told: str, chart: Any, *, sized: bool = False) -> Chart:
    drawn = chart if sized else chart.properties(width=WIDTH, height=HEIGHT)
    text = {"labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    lines = {"domainColor": FAINT, "tickColor": FAINT, "gridColor": FAINT, "gridOpacity": 0.25}
    themed = (
        drawn.configure(background="transparent", aria=False, font="system-ui, sans-serif")
        .configure_axis(**text, **lines)
        .configure_axisX(labelAngle=0, grid=False)
        .configure_legend(labelColor=INK, labelFontSize=11, orient="top", offset=6, columnPadding=28)
        .configure_header(labelColor=INK, labelFontSize=11)
        .configure_view(stroke=None)
        .configure_scale(bandPaddingInner=0.45)
    )
    return Chart(name, title, told, themed.to_dict())
