"""The page itself: sections, styles and scripts in one file, and what it cannot hold in scripts beside it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from flake_report.model.quarantine import Decided
from flake_report.model.report import FlakeReport
from flake_report.model.story import Stories
from flake_report.model.verdict import TestVerdict
from flake_report.report.history import to_json
from flake_report.report.table import window_line

from .charts import charts
from .detail import Details
from .plain import breakable, script_json, shown, web
from .rows import Choice, TestRow, choices, ranked
from .sections import context

ROWS, ROW_BYTES = 2_000, 1_900_000
"""Tests that stand in the page, and the room that they may take there; the rest comes from scripts beside it."""

DETAIL_BYTES = 700_000
"""Room for the own views of tests in the page, and in each script beside it."""

TAIL = 1_000
"""Tests in one script beside the page."""

SCRIPTS = ("state.js", "list.js", "draw.js", "view.js")

FILTERS = ("verdict", "queue", "owner", "signature")
"""What the table is filtered by: columns of a test's row."""


def render(
    report: FlakeReport, stories: Stories, made_at: datetime, decided: Sequence[Decided] | None = None
) -> dict[str, bytes]:
    """`index.html`, its charts as `chart-NAME.png`, and `rows-N.js`, `details-N.js` where it cannot hold all tests.

    `stories` are those of the report's own tests. `decided` tells what became of the quarantine; None where there is
    none.
    """
    env = _environment()
    rows = ranked(report, stories)
    details, chunk_of = _details(rows, stories)
    filters = {name: choices(rows, name) for name in FILTERS}
    printed = _printed(env, rows, chunk_of, filters)
    inside = _inside(printed)
    tail = [printed[at : at + TAIL] for at in range(inside, len(printed), TAIL)]
    data = to_json(report)
    drawn = charts(data)
    scripts = [_source(env, name) for name in SCRIPTS]
    style = _source(env, "site.css")
    page = env.get_template("page.html.j2").render(
        **context(report, data, rows, made_at, decided),
        title=window_line(report.window, report.health),
        rows=Markup("\n").join(printed[:inside]),
        inside=inside,
        tests=len(printed),
        tails=len(tail),
        filters=filters,
        charts={chart.name: chart for chart in drawn},
        details=script_json(details[0]),
        policy=_policy(style, scripts),
        style=Markup(style),  # noqa: S704  # our own files
        scripts=[Markup(script) for script in scripts],  # noqa: S704
    )
    files = {"index.html": page}
    files |= {f"rows-{at}.js": _call("rows", at, "\n".join(part)) for at, part in enumerate(tail, 1)}
    files |= {f"details-{at}.js": _call("details", at, part) for at, part in enumerate(details) if at}
    pictures = {f"chart-{chart.name}.png": chart.png for chart in drawn}
    return {name: text.encode("utf-8", "replace") for name, text in files.items()} | pictures


def _environment() -> Environment:
    env = Environment(
        loader=PackageLoader("flake_report.report.site", "templates"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["web"] = web
    env.filters["pct"] = _percent
    env.filters["brief"] = _brief
    env.filters["breakable"] = breakable
    return env


def _percent(share: float, digits: int = 1) -> str:
    """A share as the terminal shows it."""
    return f"{share * 100:.{digits}f}"


def _brief(number: float) -> str:
    return f"{number:.7g}"


def _source(env: Environment, name: str) -> str:
    """The text of a file that stands in the page as it is."""
    assert env.loader is not None  # noqa: S101  # set above
    return env.loader.get_source(env, name)[0]


def _policy(style: str, scripts: Iterable[str]) -> str:
    """The content security policy: our own styles and scripts, scripts beside the page, nothing else from anywhere."""
    known = " ".join(_digest(script) for script in scripts)
    return (
        f"default-src 'none'; script-src 'self' file: {known}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _details(rows: Sequence[TestRow], stories: Stories) -> tuple[list[dict[str, object]], dict[str, int]]:
    """The own views in portions, the page's first; and the portion of each test."""
    portions = [Details(stories.builds, stories.budget)]
    chunk_of: dict[str, int] = {}
    size = 0
    for row in rows:
        if row.story is None:
            continue
        portions[-1].add(row.story)
        chunk_of[row.key] = len(portions) - 1
        size += portions[-1].weight(row.key)
        if size > DETAIL_BYTES:
            portions.append(Details(stories.builds, stories.budget))
            size = 0
    return [portion.payload() for portion in portions if portion.tests or portion is portions[0]], chunk_of


FIRST = 50
"""Flaky tests that are seen at once; all other rows wait for the reader to ask for them."""


def _printed(
    env: Environment, rows: Iterable[TestRow], chunk_of: dict[str, int], filters: dict[str, Sequence[Choice]]
) -> list[Markup]:
    """Each test as a row of the table."""
    places = {name: {choice.value: at for at, choice in enumerate(those)} for name, those in filters.items()}
    macros: Any = env.get_template("row.html.j2").module
    printed, seen = [], 0
    for row in rows:
        flaky = row.numbers["verdict"] == TestVerdict.FLAKY
        seen += flaky
        hidden = not flaky or seen > FIRST
        fits = " ".join(str(places[name].get(row.numbers[name], -1)) for name in FILTERS)
        owned = bool(filters["owner"])
        printed.append(macros.row(row, row.numbers, chunk_of.get(row.key, 0), fits, owned=owned, hidden=hidden))
    return printed


def _inside(printed: Sequence[str]) -> int:
    """How many rows the page has room for."""
    size = 0
    for at, row in enumerate(printed[:ROWS]):
        size += len(row.encode("utf-8", "replace"))
        if size > ROW_BYTES:
            return at
    return min(len(printed), ROWS)


def _call(name: str, number: int, value: object) -> str:
    """A script of its own: nothing in it can end it, so that JSON stands as it is."""
    return f"flakeReport.{name}({number},{json.dumps(value, allow_nan=False, separators=(',', ':'))});\n"
