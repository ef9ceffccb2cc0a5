"""The table of tests in a browser: its numbers, order, filters, and the rest that lies beside the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from flake_report.cli import main


def shown(page: Page) -> list[str]:
    """Names of the tests that are seen, from top to bottom."""
    return page.locator("#tests tbody tr:visible th bdi:first-of-type").evaluate_all(
        "all => all.filter(one => one.parentElement.matches('a')).map(one => one.textContent)"
    )


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--format", "json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


ROWS = """all => all.map(row => {
  const number = at => row.cells[at].dataset.s === undefined ? null : Number(row.cells[at].dataset.s);
  const texts = [...row.cells].map(cell => cell.textContent.trim());
  return {test: row.querySelector("bdi").textContent, step: row.querySelector("p bdi").textContent,
    verdict: row.querySelector("b.v").textContent, rate: number(1), high: number(2), rank_low: number(3),
    own_runs: number(4), recovery_rate: number(5), env_rate: number(6), texts};
})"""


def test_the_numbers_of_the_table_are_those_of_show(
    exported: Any, visit: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(capsys, "show", "--store", str(exported.store), "--branch", "main")
    page = visit(exported.site, "#verdict=").page
    rows = page.locator("#tests tbody tr").evaluate_all(ROWS)
    assert len(rows) == len(answer["tests"]) > 10
    by_place = {(one["test"], one["step"]): one for one in rows}
    for test in answer["tests"]:
        row = by_place[test["test"], test["step"]]
        assert row["verdict"] == test["verdict"]
        if not test["own_runs"]:
            assert row["texts"][1] == "unknown"
            continue
        for name in ("rate", "high", "rank_low", "own_runs"):
            assert row[name] == pytest.approx(test[name], rel=1e-6), name
        assert row["texts"][1] == f"{test['rate'] * 100:.1f} %"
        assert row["texts"][2] == f"{test['low'] * 100:.1f}–{test['high'] * 100:.1f}"
        assert row["texts"][4] == f"{test['first_failures']}/{test['own_runs']}"
        assert row["texts"][5] == (f"{test['recovered']}/{test['retried']}" if test["retried"] else "–")
        victims = f"{test['env_rate'] * 100:.1f} %{test['victim_runs']}/{test['runs']}"
        assert row["texts"][6] == (victims if test["victim_runs"] else "–")


def test_the_first_sight_is_of_flaky_tests_the_worst_by_its_lower_bound_first(
    exported: Any, visit: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(capsys, "show", "--store", str(exported.store), "--branch", "main")
    flaky = sorted((one for one in answer["tests"] if one["verdict"] == "flaky"), key=lambda one: -one["rank_low"])
    page = visit(exported.site).page
    assert shown(page) == [one["test"] for one in flaky]
    assert page.locator("#count").inner_text() == f"{len(flaky)} of {len(answer['tests'])} tests"


def test_a_click_on_a_heading_orders_and_a_second_one_turns_the_order(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site, "#verdict=").page
    heading = page.get_by_role("button", name="Runs")
    heading.click()
    cells = page.locator("#tests tbody tr td:nth-child(5)")
    runs = cells.evaluate_all("all => all.map(one => Number(one.dataset.s))")
    assert runs == sorted(runs, reverse=True)
    assert len(set(runs)) > 1
    heading.click()
    assert cells.evaluate_all("all => all.map(one => Number(one.dataset.s))") == sorted(runs)
    assert page.locator("th[aria-sort]").all_inner_texts() == ["Runs"]
    page.get_by_role("button", name="Test", exact=True).click()
    assert shown(page) == sorted(shown(page))


def test_search_and_filters_narrow_the_table_and_stay_in_the_address(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site).page
    page.get_by_label("Verdict").select_option("")
    page.get_by_label("Pool").select_option("cpu_queue")
    page.get_by_label("Search").fill("RANGES sorted")
    assert shown(page) == ["v1.core.test_output_ranges::test_ranges_are_sorted"]
    address = page.url
    other = visit(exported.site, "#" + address.partition("#")[2]).page
    assert shown(other) == shown(page)
    assert other.get_by_label("Pool").input_value() == "cpu_queue"
    page.reload()
    assert shown(page) == shown(other)
    page.get_by_label("Search").fill("nothing is called so")
    assert shown(page) == []
    assert page.locator("#none").is_visible()
    page.get_by_role("button", name="Reset").click()
    assert len(shown(page)) == 2
    assert "#" not in page.url


@pytest.mark.parametrize(
    ("label", "value"), [("Verdict", "recovered"), ("Pool", "amd_mi325_1"), ("Cause", "free-memory-at-start")]
)
def test_each_filter_keeps_the_tests_that_have_the_value(
    label: str, value: str, exported: Any, visit: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(capsys, "show", "--store", str(exported.store), "--branch", "main")
    name = {"Verdict": "verdict", "Pool": "queue", "Cause": "signature"}[label]
    page = visit(exported.site, "#verdict=").page
    page.get_by_label(label).select_option(value)
    assert sorted(shown(page)) == sorted(one["test"] for one in answer["tests"] if one[name] == value)


def test_what_the_page_cannot_hold_comes_from_scripts_beside_it_and_it_says_so(
    visit: Callable[..., Any], made: Callable[..., Path], told: Callable[..., Any]
) -> None:
    folder = made(*(told(f"test_{at:04}", flaky=at % 3 == 0) for at in range(3300)))
    names = {path.name for path in folder.iterdir()}
    assert names == {"index.html", "rows-1.js", "rows-2.js", "details-1.js", "chart-weeks.png"}
    page = visit(folder, "#verdict=").page
    assert page.locator("#tests tbody tr").count() == 2000
    assert "the 2,000 worst of 3,300 tests" in page.locator("#worst").inner_text()
    page.get_by_role("button", name="Load the rest").click()
    expect(page.locator("#tests tbody tr")).to_have_count(3300)
    assert page.locator("#count").inner_text() == "3,300 of 3,300 tests, 50 shown"
    page.get_by_label("Search").fill("test_3298")
    assert shown(page) == ["v1.test_x::test_3298"]
    key = page.locator("#tests tbody tr:visible").get_attribute("data-k")
    alone = visit(folder, f"#test={key}").page
    alone.wait_for_selector("#own h2")
    assert alone.locator("#own h2").inner_text() == "v1.test_x::test_3298"


def test_a_missing_script_is_named(
    visit: Callable[..., Any], made: Callable[..., Path], told: Callable[..., Any]
) -> None:
    folder = made(*(told(f"test_{at:04}", flaky=False) for at in range(2100)))
    (folder / "rows-1.js").unlink()
    seen = visit(folder)
    seen.page.get_by_role("button", name="Load the rest").click()
    expect(seen.page.locator("#count")).to_have_text("rows-1.js could not be read: keep it beside this page")
    assert all("ERR_FILE_NOT_FOUND" in line for line in seen.said)
    seen.said.clear()


def test_without_scripts_the_flaky_tests_are_seen(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site, java_script_enabled=False).page
    assert page.locator("#tests tbody tr:visible").count() == 2
    assert "Without scripts" in page.locator("#worst").inner_text()
