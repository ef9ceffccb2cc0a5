"""The sections of the page that the demo leaves empty: each says what the report says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from flake_report.model.comparison import Change, Comparisons, WeekTable
from flake_report.model.evidence import Build
from flake_report.model.failure import Blame
from flake_report.model.incident import Incident, IncidentKind
from flake_report.model.machines import Elsewhere, PlaceKind, PlaceRate
from flake_report.model.memory import Basis, MemoryReport, Place, Suspect, Suspicion
from flake_report.model.rate import Interval, WeekCount
from flake_report.model.story import Story
from flake_report.model.verdict import Breakage, TestVerdict
from flake_report.report.site.sections import health, this_week

Made = Callable[..., Path]
Told = Callable[..., Story]


def test_a_broken_test_stands_with_the_commits_that_bound_the_change(
    visit: Callable[..., Any], made: Made, told: Told, builds: tuple[Build, ...]
) -> None:
    broke = Breakage(
        first=builds[12], last=builds[19], good=builds[11], mended=None, earliest=builds[12], latest=builds[13],
        runs=8, failed=8, job="job-12", fingerprint="f00d", signature="timeout",
    )  # fmt: skip
    story = told("test_a")
    rate = story.rate._replace(verdict=TestVerdict.BROKEN, breakages=(broke,), owner="core", also_flaky=True)
    section = visit(made(replace(story, rate=rate))).page.locator("#broken")
    cells = section.locator("tbody tr > *")
    assert cells.nth(0).inner_text().split("\n")[-1] == "core · flaky before"
    assert cells.nth(1).locator("a").get_attribute("href") == "https://buildkite.com/acme/ci/builds/12"
    assert cells.nth(2).locator("a").all_inner_texts() == [builds[at].commit[:10] for at in (12, 12, 13)]
    assert cells.nth(3).inner_text() == "8/8"
    assert cells.nth(5).locator("a").get_attribute("href") == "https://buildkite.com/acme/ci/builds/13#job-12"


def test_what_got_worse_stands_with_both_rates(visit: Callable[..., Any], made: Made, told: Told) -> None:
    story = told("test_a")
    change = Change(
        story.rate.variant, Interval(40, 10, 0.25, 0.1, 0.4), Interval(400, 8, 0.02, 0.01, 0.04), 0.00012, 3
    )
    found = Comparisons(worse=(change,), new=(told("test_new").rate.variant,), week="2026-W48", before=5, testable=1)
    page = visit(made(story, comparisons=found)).page
    cells = page.locator("#worse tbody tr > *").all_inner_texts()
    assert "3 variants together" in cells[0]
    assert [" ".join(cell.split()) for cell in cells[1:]] == ["25.0 % 10/40", "2.0 % 8/400", "0.00012"]
    assert page.locator("#new summary").inner_text() == "1 variant ran for the first time"


def test_a_test_that_failed_first_this_week_is_new_and_a_struck_one_is_only_counted(
    visit: Callable[..., Any], made: Made, told: Told
) -> None:
    weeks = (WeekCount("2026-W47", 10, 0, 0), WeekCount("2026-W48", 10, 1, 0))
    fresh, struck = told("test_fresh"), told("test_struck", flaky=False)
    fresh = replace(fresh, rate=fresh.rate._replace(trend=weeks))
    hit = (WeekCount("2026-W47", 10, 0, 0), WeekCount("2026-W48", 10, 0, 1))
    struck = replace(struck, rate=struck.rate._replace(trend=hit), weeks=fresh.weeks)
    found = Comparisons(week="2026-W48", before=1)
    section = visit(made(fresh, struck, told("test_old"), comparisons=found)).page.locator("#new")
    assert section.locator("li a").all_inner_texts() == ["v1.test_x::test_fresh"]
    assert "The environment failed 1 test for the first time" in section.inner_text()


def test_what_the_baseline_saw_fail_is_not_new(visit: Callable[..., Any], made: Made, told: Told) -> None:
    weeks = (WeekCount("2026-W48", 10, 1, 0),)
    stories = [told(name) for name in ("test_fresh", "test_known")]
    stories = [replace(one, rate=one.rate._replace(trend=weeks), weeks=one.weeks[:1]) for one in stories]
    variants = tuple(one.rate.variant for one in stories)
    counts = WeekTable(("2026-W48", "2026-W45"), variants, ((10, 10), (10, 10)), ((1, 0), (1, 2)), (("", ""), ("", "")))
    page = visit(made(*stories, counts=counts, comparisons=Comparisons(week="2026-W48", before=1))).page
    assert page.locator("#new li a").all_inner_texts() == ["v1.test_x::test_fresh"]
    ages = page.locator("#tests tbody tr td:last-child").all_inner_texts()
    assert sorted(age.split()[0] for age in ages) == ["26-W45", "26-W48"]


def test_incidents_of_a_kind_stand_with_victims_and_culprit(
    visit: Callable[..., Any], made: Made, told: Told, builds: tuple[Build, ...]
) -> None:
    victims = tuple(told(f"test_{at}").rate.variant for at in range(5))
    incidents = tuple(
        Incident(builds[at], f"job-{at}", "free-memory", victims[:count], "v1.test_x::test_leak", Blame.GPU_MEMORY,
                 "f00d", agent=f"gpu-{at}")
        for at, count in ((19, 5), (7, 1))
    )  # fmt: skip
    kind = IncidentKind("free-memory", "f00d", Blame.GPU_MEMORY, 2, 5, builds[7], builds[19], new=True)
    page = visit(made(told("test_0"), incidents=incidents, incident_kinds=(kind,))).page
    cells = page.locator("#incidents tbody tr > *")
    assert cells.nth(0).inner_text().split() == ["free-memory", "new", "gpu-memory"]
    assert cells.nth(1).inner_text() == "2"
    assert cells.nth(2).locator("p:visible").first.inner_text() == "v1.test_x::test_0 2 ×"
    assert cells.nth(2).locator("summary").inner_text() == "2 more"
    assert cells.nth(3).inner_text() == "v1.test_x::test_leak"
    assert cells.nth(5).locator("a").get_attribute("href") == "https://buildkite.com/acme/ci/builds/20#job-19"


def test_suspects_stand_with_their_probability_those_that_are_named_first(
    visit: Callable[..., Any], made: Made, told: Told
) -> None:
    unknown = Suspicion(Place("a", "q"), 9, 50, "victim", Basis.ORDER, None, (Suspect("t::leak", 0.625),), orders=4)
    named = Suspicion(Place("b", "q"), 3, 50, "victim", Basis.SAMPLES, Suspect("t::sure", None, 1 << 31), measured=3)
    page = visit(made(told("test_a"), memory=MemoryReport(suspicions=(unknown, named)))).page
    items = page.locator("#memory li").all_inner_texts()
    assert "t::sure left 2.00 GiB" in items[0]
    assert "62 % t::leak" in items[1]


def test_a_machine_that_stands_out_is_told_and_the_others_are_not(
    visit: Callable[..., Any], made: Made, told: Told
) -> None:
    bad = PlaceRate(
        PlaceKind.MACHINE, "gpu-7", Interval(50, 25, 0.5, 0.36, 0.64), 5, 20, 0, 0.0004, Elsewhere("gpu-7", 8, 7)
    )
    good = replace(bad, name="gpu-8", trouble=Interval(50, 1, 0.02, 0.0, 0.1), p_value=0.9)
    page = visit(made(told("test_a"), agents=(bad, good))).page
    rows = page.locator("#agents tbody tr")
    assert rows.count() == 1
    told_of = " ".join(rows.first.inner_text().split())
    assert told_of == "gpu-7 50.0 % 25/50 jobs 36.0–64.0 5 / 20 / 0 0.0004 7/8"


def test_axe_finds_nothing_where_much_is_wrong(
    visit: Callable[..., Any], made: Made, told: Told, builds: tuple[Build, ...], axe: Callable[..., list[str]]
) -> None:
    story = told("test_a", signature="timeout")
    broke = Breakage(builds[5], builds[19], builds[4], None, builds[4], builds[6], 8, 8, "job-5", "f00d", "timeout")
    broken = replace(story, rate=story.rate._replace(verdict=TestVerdict.BROKEN, breakages=(broke,)))
    change = Change(story.rate.variant, Interval(40, 10, 0.25, 0.1, 0.4), Interval(400, 8, 0.02, 0.01, 0.04), 0.0001)
    bad = PlaceRate(PlaceKind.MACHINE, "gpu-7", Interval(50, 25, 0.5, 0.36, 0.64), 5, 20, 0, 0.0004)
    struck = (Incident(builds[19], "job-19", "free-memory", (story.rate.variant,), "", Blame.GPU_MEMORY, "f00d"),)
    kind = IncidentKind("free-memory", "f00d", Blame.GPU_MEMORY, 1, 1, builds[19], builds[19], new=True)
    folder = made(
        broken, told("test_b"), agents=(bad,), incidents=struck, incident_kinds=(kind,),
        comparisons=Comparisons(worse=(change,), better=(change,), week="2026-W48", before=5),
    )  # fmt: skip
    for scheme in ("light", "dark"):
        assert axe(visit(folder, "#verdict=", color_scheme=scheme, bypass_csp=True).page) == []


def test_the_week_in_one_line_counts_in_words_that_fit() -> None:
    week = {"week": "2026-W48", "builds": 1200, "runs": 1, "incidents": 0, "flaky": 1, "hours": 0.26}
    assert this_week({"weeks": []}) == []
    assert this_week({"weeks": [week]}) == [
        ("1,200", "builds", ""), ("1", "test run", ""), ("0", "incidents", ""), ("1", "flaky test", ""),
        ("0.3", "GPU-hours lost", ""),
    ]  # fmt: skip
    assert [before for _, _, before in this_week({"weeks": [week, week]})] == ["1,200", "1", "0", "1", "0.3"]


@pytest.mark.parametrize(
    ("key", "value", "name", "doubt"),
    [
        ("newest", "2026-11-01T00:00:00Z", "newest data", "collect again: nothing came in for days"),
        ("newest", None, "newest data", "the store has nothing that was asked for"),
        (
            "jobs_without_results",
            3,
            "jobs without results",
            "their tests are counted nowhere: do they write JUnit files?",
        ),
        ("attempts_unknown", 3, "attempts of unknown order", "reruns may be missing: the recorder writes each"),
        ("modes", ["all", "failed"], "collected", "rates have no denominator: collect all jobs"),
        ("warnings", 1, "warnings while reading", "flake-report ingest prints them"),
    ],
)
def test_what_makes_the_data_doubtful_is_said(key: str, value: object, name: str, doubt: str) -> None:
    fine = {
        "builds": 9, "jobs": 9, "jobs_without_results": 0, "jobs_lost": 0, "attempts": 9, "attempts_unknown": 0,
        "newest": "2026-11-30T05:30:00Z", "modes": ["all"], "warnings": 0,
    }  # fmt: skip
    at = datetime(2026, 11, 30, 6, tzinfo=UTC)
    assert {doubt for _, _, doubt in health({"health": fine}, at)} == {""}
    assert [one[::2] for one in health({"health": {**fine, key: value}}, at) if one[2]] == [(name, doubt)]
