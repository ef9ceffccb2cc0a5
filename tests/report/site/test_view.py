"""A test's own view in a browser: reached by click and by address, and saying what `show --why` says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flake_report.cli import main

FLAKY = "v1.kv_connector.unit.test_transfer_timeout::test_read_finishes_before_deadline"


def why(capsys: pytest.CaptureFixture[str], store: Path, test: str, step: str) -> dict[str, Any]:
    capsys.readouterr()
    assert (
        main(["show", "--store", str(store), "--branch", "main", "--why", test, "--step", step, "--format", "json"])
        == 0
    )
    (story,) = json.loads(capsys.readouterr().out)["stories"]
    assert isinstance(story, dict)
    return story


def test_a_click_shows_the_runs_that_show_why_tells(
    exported: Any, visit: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    story = why(capsys, exported.store, FLAKY, "V1 KV Connectors (MI325)")
    page = visit(exported.site).page
    page.get_by_role("link", name=FLAKY).first.click()
    page.wait_for_selector("#own h2")
    assert page.locator("#own h2").inner_text() == FLAKY
    assert not page.locator("#report").is_visible()
    runs = page.locator("tr[id^=run-]")
    told = [(row.locator("th a").get_attribute("href"), row.locator("td b").all_inner_texts()) for row in runs.all()]
    newest_first = story["told_runs"][::-1]
    assert told == [
        (run["url"], [run["verdict"], *(one["outcome"] for one in run["attempts"])]) for run in newest_first
    ]
    jobs = runs.get_by_role("link", name="job", exact=True).evaluate_all("all => all.map(one => one.href)")
    assert jobs == [one["url"] for run in newest_first for one in run["attempts"]]
    drawn = page.locator("#own svg g[data-order]")
    assert drawn.count() == len(story["told_runs"])
    assert drawn.first.locator("rect.failed").count() == 1
    assert drawn.first.locator("rect.passed").count() == 1
    assert (
        f"{story['first_failures']} of {story['own_runs']} runs: {story['rate'] * 100:.1f} %"
        in page.locator("#own").inner_text()
    )
    weeks = page.locator("#own svg[aria-label^='first attempts']").get_attribute("aria-label")
    assert weeks is not None
    assert weeks.endswith(
        ", ".join(f"{one['week']}: {one['first_failures']} of {one['runs']}" for one in story["trend"])
    )


def test_the_way_back_leads_to_the_list_as_it_was(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site, "#verdict=&queue=cpu_queue").page
    before = page.locator("#tests tbody tr:visible").count()
    page.locator("#tests tbody tr:visible a").first.click()
    page.wait_for_selector("#own h2")
    page.keyboard.press("Escape")
    page.wait_for_selector("#report", state="visible")
    assert page.locator("#tests tbody tr:visible").count() == before
    assert page.get_by_label("Pool").input_value() == "cpu_queue"


def test_an_address_leads_to_one_test_and_a_wrong_one_says_so(exported: Any, visit: Callable[..., Any]) -> None:
    page = visit(exported.site, "#test=000000000000").page
    page.wait_for_selector("#own h2")
    assert page.locator("#own h2").inner_text() == "No such test"
    page.get_by_role("link", name="all tests").click()
    page.wait_for_selector("#report", state="visible")
    key = page.locator("#tests tbody tr:visible").first.get_attribute("data-k")
    alone = visit(exported.site, f"#test={key}").page
    alone.wait_for_selector("#own h2")
    assert alone.locator("#own h2").inner_text() == FLAKY
    assert alone.title().startswith(FLAKY)
    alone.get_by_role("link", name="GPU memory").click()
    alone.wait_for_selector("#report", state="visible")


def test_a_click_on_the_strip_marks_the_run_in_the_table(
    visit: Callable[..., Any], made: Callable[..., Path], told: Callable[..., Any]
) -> None:
    folder = made(told("test_a"))
    page = visit(folder).page
    page.get_by_role("link", name="test_a").click()
    page.wait_for_selector("#own h2")
    page.locator("#own svg g[data-order='15'] rect").first.click()
    assert page.locator("tr.at th a").inner_text() == "build 16"
    assert page.locator("#own svg text").all_text_contents()[:3] == ["5", "9", "4"]


def test_a_failing_test_is_told_by_fingerprint_and_by_agent(
    visit: Callable[..., Any], made: Callable[..., Path], told: Callable[..., Any]
) -> None:
    page = visit(made(told("test_a", "AssertionError: seven is not eight"))).page
    page.get_by_role("link", name="test_a").click()
    prints = page.get_by_role("region", name="Failed attempts by fingerprint").locator("tbody tr")
    assert prints.all_inner_texts() == ["2\tf00d\t\tAssertionError: seven is not eight"]
    agents = page.get_by_role("region", name="Failed attempts by agent").locator("tbody tr")
    assert agents.all_inner_texts() == ["2\tagent"]
