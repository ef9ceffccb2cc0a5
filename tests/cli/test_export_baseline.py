"""Weekly exports that know each other by their files alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

WEEKS = {44: ("2026-10-26", 48, ("good", "bad", "gone")), 45: ("2026-11-02", 4, ("good", "bad", "fresh"))}
"""A week: its Monday, which of its 48 builds `bad` fails in, each so many-th, and its tests.

In the first week `good` flakes twice.
"""


@pytest.fixture(autouse=True)
def weeks(home: Path) -> Path:
    """A working folder with a folder of results for each week, 24 builds a day over two days."""
    for week, (monday, every, names) in WEEKS.items():
        for at in range(48):
            job = home / f"results-{week}" / f"{week}-{at:02}" / "job"
            job.mkdir(parents=True)
            day = f"{monday[:8]}{int(monday[8:]) + at // 24:02}T{at % 24:02}:00:00+00:00"
            fails = {
                "bad": '<failure message="AssertionError: no"/>' if at % every == 3 else "",
                "good": '<failure message="TimeoutError: late"/>' if week == 44 and at in (5, 25) else "",
            }
            cases = "".join(
                f'<testcase classname="tests.a" name="{name}">{fails.get(name, "")}</testcase>' for name in names
            )
            (job / "junit.xml").write_text(f'<testsuite name="pytest" timestamp="{day}">{cases}</testsuite>')
    return home


def compared(folder: str) -> dict[str, object]:
    told = json.loads(Path(folder, "report.json").read_text())["comparisons"]
    lists = {name: [one["test"] for one in told[name]] for name in ("new", "worse", "better", "vanished")}
    return {"week": told["week"], "weeks_before": told["weeks_before"], **lists}


def test_a_store_of_one_week_and_last_weeks_export_say_what_a_store_of_both_weeks_says(run: Callable) -> None:
    for week in WEEKS:
        assert run("ingest", f"results-{week}", "--store", f"store-{week}").status == 0
        assert run("ingest", f"results-{week}", "--store", "both").status == 0
    assert run("export", "first", "--store", "store-44").status == 0
    ran = run("export", "second", "--store", "store-45", "--baseline", "first")
    assert (ran.status, ran.err) == (0, "")
    assert run("export", "whole", "--store", "both").status == 0
    assert compared("second") == {
        "week": "2026-W45", "weeks_before": 1,
        "new": ["a::fresh"], "worse": ["a::bad"], "better": [], "vanished": ["a::gone"],
    }  # fmt: skip
    assert compared("whole") == compared("second")


def test_a_flake_of_last_week_stays_known_to_builds_that_have_this_weeks_export_alone(
    run: Callable, home: Path
) -> None:
    for week in WEEKS:
        run("ingest", f"results-{week}", "--store", f"store-{week}")
    run("export", "first", "--store", "store-44")
    run("export", "second", "--store", "store-45", "--baseline", "first")
    (home / "junit.xml").write_text(
        '<testsuite name="pytest"><testcase classname="tests.a" name="good">'
        '<failure message="TimeoutError: late"/></testcase></testsuite>'
    )
    (failure,) = json.loads(run("annotate", "junit.xml", "--baseline", "second", "--format", "json").out)["failures"]
    assert failure["kind"] == "flake"
    assert failure["why"].endswith("first attempts fail in 2 of 48 runs, counted until 2026-10-27")


def test_without_last_weeks_export_it_says_so_and_exports_all_the_same(run: Callable) -> None:
    run("ingest", "results-44", "--store", "store")
    ran = run("export", "out", "--store", "store", "--baseline", "nowhere")
    assert ran.status == 0
    assert ran.err == (
        "flake-report: nowhere/report.json: there is no such file; a baseline is a folder that flake-report export "
        "wrote: nothing is compared with a baseline\n"
    )
    assert compared("out")["weeks_before"] == 0
