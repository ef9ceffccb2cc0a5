"""The charts: what they draw comes from the report, and the picture is one that any viewer opens."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from lxml import etree

from flake_report.report.site.charts import CHARTS, HEIGHT, WIDTH, charts

GIB = 1 << 30


def report(**parts: Any) -> dict[str, Any]:
    return {"weeks": [], "incidents": [], "tuning": [], **parts}


WEEKS = [{"week": f"2026-W{at}", "first_failures": at - 40, "victims": 1} for at in (47, 48)]
INCIDENTS = [
    {"at": "2026-11-16T05:00:00Z", "signature": name} for name in ("a", "a", "b", "c", "d", "e", "f", "<svg onload=x>")
]
TUNING = [
    {
        "test": "v1.x::test_a",
        "queue": "gpu",
        "advice": "0.2 is the largest",
        "refusals": [{"at": "2026-11-16T05:00:00Z", "free": 4 * GIB, "asked": 10 * GIB}],
        "risks": [
            {"utilization": 0.2, "rate": 0.0, "low": 0.0, "high": 0.1},
            {"utilization": 0.5, "rate": 0.1, "low": 0.0, "high": 0.3},
            {"utilization": 0.9, "rate": None, "low": 0.1, "high": 1.0},
        ],
    }
]


def drawn(data: dict[str, Any]) -> dict[str, Any]:
    return {chart.name: chart for chart in charts(data)}


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    (data,) = spec["datasets"].values()
    assert isinstance(data, list)
    return data


def test_a_report_without_failures_has_no_chart() -> None:
    assert charts(report(weeks=[{"week": "2026-W48", "first_failures": 0, "victims": 0}])) == []
    assert len(CHARTS) <= 5


def test_weeks_are_drawn_as_they_were_counted() -> None:
    chart = drawn(report(weeks=WEEKS))["weeks"]
    assert {(one["week"], one["kind"]): one["runs"] for one in values(chart.spec)} == {
        ("2026-W47", "first attempt failed"): 7,
        ("2026-W48", "first attempt failed"): 8,
        ("2026-W47", "environment failed"): 1,
        ("2026-W48", "environment failed"): 1,
    }
    assert chart.told == "2026-W48: 8 failed first, 1 by the environment"


def test_past_the_most_frequent_signatures_all_others_are_one() -> None:
    chart = drawn(report(incidents=INCIDENTS))["incidents"]
    counts = {one["signature"]: one["incidents"] for one in values(chart.spec)}
    assert counts["a"] == 2
    assert counts["others"] == 2
    assert sum(counts.values()) == len(INCIDENTS)


def test_free_and_requested_memory_stand_in_gib_by_week_and_pool() -> None:
    chart = drawn(report(tuning=TUNING))["memory"]
    assert [(one["pool"], one["week"], one["kind"], one["gib"]) for one in values(chart.spec)] == [
        ("gpu", "2026-W47", "free", 4.0),
        ("gpu", "2026-W47", "requested", 10.0),
    ]


def test_a_risk_that_is_not_known_is_not_drawn() -> None:
    chart = drawn(report(tuning=TUNING))["risk"]
    assert [one["utilization"] for one in values(chart.spec)] == [0.2, 0.5]
    assert chart.told == "v1.x::test_a: 0.2 is the largest"


@pytest.mark.parametrize("name", ["weeks", "incidents", "memory", "risk"])
def test_a_chart_is_an_element_without_roles_or_scripts_and_a_picture(name: str) -> None:
    chart = drawn(report(weeks=WEEKS, incidents=INCIDENTS, tuning=TUNING))[name]
    root = etree.fromstring(str(chart.svg).encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    for element in root.iter():
        assert not {key for key in element.attrib if key in {"role", "style", "href"} or key.startswith(("on", "aria"))}
        assert etree.QName(element).localname in {"svg", "g", "path", "text", "rect", "line", "defs", "clipPath"}
    assert all(one.startswith(f"{name}-") for one in root.xpath("//@id"))
    kind, width, height = struct.unpack(">8s8x2I", chart.png[:24])
    assert kind == b"\x89PNG\r\n\x1a\n"
    assert width > WIDTH
    assert height > HEIGHT


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (1, [0, 1]),
        (5, [0, 1, 2, 3, 4, 5]),
        (7, [0, 2, 4, 6, 8]),
        (223, [0, 50, 100, 150, 200, 250]),
        (9999, [0, 2000, 4000, 6000, 8000, 10000]),
    ],
)
def test_counts_have_a_few_round_ticks_and_room_for_the_largest(most: int, ticks: list[int]) -> None:
    chart = drawn(report(weeks=[{"week": "2026-W48", "first_failures": most, "victims": 0}]))["weeks"]
    assert chart.spec["encoding"]["y"]["axis"]["values"] == ticks
    assert chart.spec["encoding"]["y"]["scale"]["domain"] == [0, ticks[-1]]
