"""A history as Markdown."""

from __future__ import annotations

import html
import re
from dataclasses import replace

from markdown_it import MarkdownIt

from flake_report.model.comparison import Change, Comparisons
from flake_report.model.cost import Cost
from flake_report.model.failure import Blame
from flake_report.model.incident import IncidentKind
from flake_report.model.known import FailureWay
from flake_report.model.machines import PlaceKind, PlaceRate
from flake_report.model.memory import Diagnosed, MemoryReport, Place
from flake_report.model.rate import Interval
from flake_report.model.report import FlakeReport
from flake_report.model.verdict import TestVerdict
from flake_report.report.annotation import Style
from flake_report.report.digest import LIMIT, headline, style, to_markdown


def page(report: FlakeReport, **options: object) -> str:
    return html.unescape(re.sub(r"</?code>", "`", to_markdown(report, **options)))


def test_each_test_that_failed_has_a_row_with_its_numbers_and_its_last_failure(report: FlakeReport) -> None:
    flaky = report.tests[0]
    build = flaky.breakages[0].last
    ways = {flaky.variant: (FailureWay("aa", 3, flake=True, first=build, last=build, job="job-1"),)}
    rows = [line for line in page(replace(report, ways=ways)).splitlines() if "`v1.kv.test_x" in line]
    place = "`kv-connector` · `gpu_1_queue`"
    last = "last in [build 19](https://buildkite.com/acme/ci/builds/19#job-1)"
    flaky_row = f"`v1.kv.test_x::test_flaky[a]` · {place} · **flaky**: build 7 both failed and passed · {last}"
    victim_row = f"`v1.kv.test_x::=victim()` · {place} · **healthy**: no failure"
    assert [row.replace("\u00a0", " ") for row in rows] == [
        f"| 5.0 % (1.7–11.5) 4/80 | 2/3 | 0.0 % (0.0–3.1) 0/80 | {flaky_row} |",
        f"| 0.0 % (0.0–3.2) 0/78 | – | 2.5 % (0.5–7.9) 2/80 | {victim_row} |",
    ]


def test_the_week_comes_before_the_list(report: FlakeReport) -> None:
    variant = report.tests[0].variant
    change = Change(variant, Interval(20, 5, 0.25, 0.1, 0.5), Interval(200, 2, 0.01, 0.0, 0.03), 0.001)
    week = Comparisons(new=(variant,), worse=(change,), week="2026-W48", before=4, testable=3, untestable=7)
    text = page(replace(report, comparisons=week))
    assert "- 2026-W48 against 4 weeks before: 1 worse · 0 better · 1 new · 0 vanished" in text
    assert "7 of 10 variants have too few failures or runs to tell" in text
    worse = "- `v1.kv.test_x::test_flaky[a]` · `kv-connector` · `gpu_1_queue`: 25.0 % (5/20), was 1.0 % (2/200)"
    assert text.index("#### Worse this week") < text.index(worse) < text.index("#### 2 tests that failed")


def test_tests_that_never_failed_come_when_all_are_asked_for(report: FlakeReport) -> None:
    assert "test_clean" not in page(report)
    assert "#### 3 tests in all" in page(report, everything=True)
    assert "test_clean" in page(report, everything=True)


def test_it_is_a_table_where_it_is_rendered_and_hostile_names_stay_in_their_cells(report: FlakeReport) -> None:
    evil = "a | b\n|---|\n</code><script>x</script> \u202e"
    flaky = report.tests[0]
    variant = flaky.variant._replace(test=flaky.variant.test._replace(name=evil), step=evil)
    rendered = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(
        to_markdown(replace(report, tests=(flaky._replace(variant=variant, reason=evil),)))
    )
    assert rendered.count("<tr>") == 2
    assert rendered.count("<td") == 4
    assert "<script" not in rendered


def test_any_history_fits_into_a_comment_and_the_rest_is_counted(report: FlakeReport) -> None:
    flaky = report.tests[0]
    many = tuple(flaky._replace(variant=flaky.variant._replace(session=str(at))) for at in range(3000))
    short, whole = to_markdown(replace(report, tests=many)), to_markdown(replace(report, tests=many), everything=True)
    assert "- … 2,980 more\n" in short
    assert LIMIT * 0.9 < len(whole.encode()) <= LIMIT


def test_an_empty_store_says_so(report: FlakeReport) -> None:
    empty = replace(report, tests=(), health=replace(report.health, jobs=0, builds=0))
    assert "Nothing in the store matches." in to_markdown(empty)


def test_incidents_machines_memory_and_what_was_lost_are_told(report: FlakeReport) -> None:
    flaky = report.tests[0]
    first, last = flaky.breakages[0].good, flaky.breakages[0].last
    kind = IncidentKind("free-memory", "aa", Blame.GPU_MEMORY, 5, 9, first, last, new=True)
    bad = PlaceRate(PlaceKind.MACHINE, "l4-3", Interval(9, 6, 0.667, 0.3, 0.9), 6, 0, 0, p_value=0.001)
    calm = replace(bad, name="l4-4", p_value=0.9)
    lost = Cost(3, 1, 1.5, 0.25, None, 0.0, 0, 0, ())
    memory = MemoryReport(diagnoses=(Diagnosed("shortage", Place("unit", "l4"), 4, 3),))
    whole = replace(report, incident_kinds=(kind,), agents=(bad, calm), cost=lost, memory=memory)
    text = page(whole)
    assert "- 5× `free-memory` (gpu-memory) · 9 tests · 2026-11-01 · new this week" in text
    assert "- `l4-3` · 6 of 9 jobs in trouble, 66.7 % (30.0–90.0)" in text
    assert "l4-4" not in text
    assert "- GPU memory, diagnosed: 4 shortage" in text
    assert "- 1.8 GPU-hours lost to failures that were no regression" in text


def test_a_weekly_annotation_warns_of_what_is_worse_or_broken_and_of_nothing_else(report: FlakeReport) -> None:
    change = Change(report.tests[0].variant, Interval(20, 5, 0.25, 0.1, 0.5), Interval(200, 2, 0.01, 0.0, 0.03), 0.001)
    week = Comparisons(worse=(change,), week="2026-W48", before=4)
    broken = report.tests[0]._replace(verdict=TestVerdict.BROKEN)
    assert style(report) is Style.INFO
    assert style(replace(report, comparisons=week)) is Style.WARNING
    assert style(replace(report, tests=(broken,))) is Style.WARNING
    assert headline(replace(report, comparisons=week)).startswith("2026-W48 against 4 weeks before: 1 worse")
    assert "1 flaky" in headline(report)


def test_a_test_that_never_ran_by_itself_has_no_rate(report: FlakeReport) -> None:
    lost = report.tests[1]._replace(own=Interval(0, 0, 0.0, 0.0, 1.0))
    assert "| unknown | – |" in page(replace(report, tests=(lost,)))


def test_parameters_that_were_counted_together_are_counted(report: FlakeReport) -> None:
    change = Change(report.tests[0].variant, Interval(20, 5, 0.25, 0.1, 0.5), Interval(9, 0, 0.0, 0.0, 0.3), 0.001, 7)
    assert "(7 variants): 25.0 % (5/20)" in page(replace(report, comparisons=Comparisons(better=(change,), before=1)))
