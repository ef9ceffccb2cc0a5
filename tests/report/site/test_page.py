"""The page as a whole in a browser: what stands where, for whom it works, and what it asks of the world: nothing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from flake_report import demo
from flake_report.cli import main
from flake_report.model.quarantine import Decided, Entry, Fate

SECTIONS = [
    "Is the data healthy?", "This week", "New this week", "Got worse", "Worst flaky tests",
    "Incidents of the environment", "GPU memory", "Agents that stand out", "Broken now", "Recovered",
    "How to read this",
]  # fmt: skip


def report_of(folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((folder / "report.json").read_bytes())
    return answer


def test_the_sections_stand_in_the_order_in_which_they_are_read(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site).page
    assert page.locator("#report h2").all_inner_texts() == SECTIONS
    links = page.locator("nav a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert [f"#{one}" for one in page.locator("section").evaluate_all("all => all.map(one => one.id)")] == links


def test_health_week_and_incidents_say_the_numbers_of_the_report(exported: Any, visit: Callable[..., Any]) -> None:
    data = report_of(exported.site)
    page = visit(exported.site).page
    facts = dict(
        zip(page.locator(".facts dt").all_inner_texts(), page.locator(".facts dd").all_inner_texts(), strict=True)
    )
    health = data["health"]
    for name, key in (("builds", "builds"), ("jobs", "jobs"), ("attempts", "attempts"), ("jobs lost", "jobs_lost")):
        assert facts[name].split("\n")[0] == f"{health[key]:,}"
    now, before = data["weeks"][-1], data["weeks"][-2]
    nouns = (("builds", "builds"), ("runs", "test runs"), ("incidents", "incidents"), ("flaky", "flaky tests"))
    told = [f"{now[key]} {noun} (was {before[key]})" for key, noun in nouns]
    told.append(f"{now['hours']:.1f} GPU-hours lost (was {before['hours']:.1f})")
    assert page.locator("#week .line").inner_text() == " · ".join([now["week"], *told])
    (kind,) = data["incident_kinds"]
    cells = page.locator("#incidents table").first.locator("tbody tr > *").all_inner_texts()
    assert cells[0].startswith(kind["signature"])
    assert cells[1] == str(kind["incidents"])
    diagnosed = page.get_by_role("region", name="Diagnoses").locator("tbody tr").all_inner_texts()
    assert diagnosed == [f"{one['queue']}\t{one['kind']}\t{one['events']}\t{one['jobs']}" for one in data["diagnoses"]]


def test_weeks_add_up_to_all_runs_of_the_report(exported: Any) -> None:
    data = report_of(exported.site)
    assert sum(week["runs"] for week in data["weeks"]) == sum(
        test["own_runs"] + sum(one["runs"] for one in test["breakages"]) for test in data["tests"]
    )
    assert sum(week["first_failures"] for week in data["weeks"]) == sum(
        week["first_failures"] for test in data["tests"] for week in test["trend"]
    )
    assert sum(week["incidents"] for week in data["weeks"]) == len(data["incidents"])
    cost = data["cost"]
    assert sum(week["hours"] for week in data["weeks"]) == pytest.approx(cost["failed_hours"] + cost["retry_hours"])


def test_another_history_makes_another_page_and_both_agree_with_their_numbers(
    exported: Any, tmp_path: Path, visit: Callable[..., Any]
) -> None:
    demo.write_history(tmp_path / "archive")
    data = report_of(exported.site)
    story = next(one for one in data["tests"] if one["verdict"] == "flaky")
    build = re.search(r"build (\d+) to", story["reason"])
    assert build is not None
    (gone,) = (tmp_path / "archive").glob(f"*/*/{build[1]}")
    shutil.rmtree(gone)
    assert main(["ingest", str(tmp_path / "archive"), "--store", str(tmp_path / "store")]) == 0
    assert main(["export", str(tmp_path / "site"), "--store", str(tmp_path / "store"), "--branch", "main"]) == 0
    changed = next(one for one in report_of(tmp_path / "site")["tests"] if one["test"] == story["test"])
    assert changed["first_failures"] == story["first_failures"] - 1
    page = visit(tmp_path / "site").page
    assert page.locator("#tests tbody tr").first.locator("td").nth(3).inner_text() == (
        f"{changed['first_failures']}/{changed['own_runs']}"
    )
    assert page.locator(".facts dd").nth(1).inner_text() == str(data["health"]["builds"] - 1)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing(
    scheme: str, width: int, exported: Any, visit: Callable[..., Any], axe: Callable[..., list[str]]
) -> None:
    page = visit(exported.site, "#verdict=", width=width, color_scheme=scheme, bypass_csp=True).page
    for summary in page.locator("summary").all():
        summary.click()
    assert axe(page) == []
    page.locator("#tests tbody tr:visible a").first.click()
    page.wait_for_selector("#own h2")
    assert axe(page) == []


def test_dark_is_dark_and_charts_follow(exported: Any, visit: Callable[..., Any]) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    words = "getComputedStyle(document.querySelector('.chart text')).fill"
    light, dark = (visit(exported.site, color_scheme=scheme).page for scheme in ("light", "dark"))
    assert light.evaluate(ground) == "rgb(255, 255, 255)"
    assert dark.evaluate(ground) == "rgb(13, 17, 23)"
    assert light.evaluate(words) == "rgb(27, 31, 36)"
    assert dark.evaluate(words) == "rgb(230, 237, 243)"


@pytest.mark.parametrize("fragment", ["#verdict=", "own"])
def test_a_phone_never_scrolls_sideways(fragment: str, exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site, fragment if fragment != "own" else "", width=390).page
    if fragment == "own":
        page.locator("#tests tbody tr:visible a").first.click()
        page.wait_for_selector("#own h2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_paper_shows_the_sections_without_the_controls(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site, width=1030).page  # A4, less its margins
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1030
    assert page.locator("#report h2:visible").count() == len(SECTIONS)
    assert not page.locator("#filters").is_visible()
    assert not page.locator("nav").is_visible()


def test_the_keyboard_reaches_the_tests_and_opens_one(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the tests"
    page.keyboard.press("Enter")
    page.locator("#tests tbody a:visible").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#own h2")
    assert page.evaluate("document.activeElement.id") == "own"


def test_an_empty_history_says_of_each_section_why_it_is_empty(
    exported: Any, tmp_path: Path, visit: Callable[..., Any], axe: Callable[..., list[str]]
) -> None:
    assert main(["export", str(tmp_path), "--store", str(exported.store), "--branch", "no-such"]) == 1
    page = visit(tmp_path, bypass_csp=True).page
    assert page.locator("#report h2").all_inner_texts() == SECTIONS
    for section in page.locator("#report section").all()[1:-1]:
        assert section.locator(".empty").first.inner_text().endswith(".")
    assert axe(page) == []


def test_a_quarantine_that_nothing_left_is_said_to_be_so(
    exported: Any, tmp_path: Path, visit: Callable[..., Any]
) -> None:
    (tmp_path / "q.json").write_text('{"schema": "flake-quarantine/1", "entries": []}')
    arguments = ["export", str(tmp_path / "site"), "--store", str(exported.store), "--branch", "main"]
    assert main([*arguments, "--quarantine", str(tmp_path / "q.json")]) == 0
    assert "No test left the quarantine." in visit(tmp_path / "site").page.locator("#recovered").inner_text()


def test_tests_that_left_the_quarantine_are_told_with_the_reason(
    visit: Callable[..., Any], made: Callable[..., Path], told: Callable[..., Any]
) -> None:
    day = date(2026, 11, 1)
    entry = Entry("v1.test_x::test_old", "step", "pool", ("f00d",), "flaky", "", "core team", day, day)
    kept = replace(entry, test="v1.test_x::test_kept")
    decided = (Decided(entry, Fate.HEALED, "90 passes since build 7"), Decided(kept, Fate.KEPT))
    text = visit(made(told("test_a"), decided=decided)).page.locator("#recovered").inner_text()
    assert "v1.test_x::test_old core team" in text
    assert "90 passes since build 7" in text
    assert "test_kept" not in text


def test_the_policy_lets_nothing_in(exported: Any) -> None:
    text = (exported.site / "index.html").read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;self&#39; file: &#39;sha256-")
    assert "unsafe" not in policy[1]
    assert re.findall(r'(?:src|href)="(?!#|https://buildkite\.com/)[^"]*"', text) == []
