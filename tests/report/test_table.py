"""The history as a person sees it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from rich.console import Console

from flake_report.model.evidence import Build
from flake_report.model.rate import Interval
from flake_report.model.report import FlakeReport
from flake_report.model.verdict import TestVerdict
from flake_report.report.table import SHOWN, to_text


def printed(report: FlakeReport, *, everything: bool = False, width: int = 110) -> str:
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in to_text(report, everything=everything):
            console.print(part)
    return captured.get()


def test_each_rate_stands_with_its_runs_and_interval(report: FlakeReport) -> None:
    lines = printed(report).splitlines()
    numbers = lines[next(place for place, line in enumerate(lines) if "test_flaky[a]" in line) + 3]
    own, recovery, environment = ["5.0", "%", "1.7–11.5", "4/80"], ["2/3"], ["0.0", "%", "0.0–3.1", "0/80"]
    assert numbers.split() == [*own, "98", "%", *recovery, *environment]


def test_numbers_of_a_long_history_stay_apart_below_their_headings(report: FlakeReport) -> None:
    long = Interval(12_345, 1_234, 0.1, 0.094, 0.105)
    tests = (report.tests[0]._replace(own=long, recovery=long, environment=long), *report.tests[1:])
    lines = printed(replace(report, tests=tests)).splitlines()
    heading, numbers = next(place for place, line in enumerate(lines) if "on retry" in line), printed_numbers(lines)
    rate = ["10.0", "%", "9.4–10.5", "1,234/12,345"]
    assert numbers[0].split() == [*rate, "98", "%", "1,234/12,345", *rate]
    ends = {lines[heading].index("on retry") + len("on retry"), lines[heading].index("runs") + len("runs")}
    assert all(line[end - 1] != " " == line[end] for line in numbers for end in ends)
    assert len({len(line.rstrip()) for line in (lines[heading], *numbers)}) == 1


def printed_numbers(lines: list[str]) -> list[str]:
    """The last line of each test."""
    return [line for line in lines if line.count("–") >= 2 and line.count("/") >= 2]


def test_a_verdict_stands_with_its_reason_under_the_place_where_the_test_runs(report: FlakeReport) -> None:
    lines = printed(report).splitlines()
    at = next(place for place, line in enumerate(lines) if "test_flaky[a]" in line)
    assert [line.rstrip() for line in lines[at + 1 : at + 3]] == [
        "  kv-connector · gpu_1_queue · timeout",
        "  flaky: build 7 both failed and passed",
    ]


def test_a_flake_that_comes_in_bouts_says_so_and_a_regression_does_not(report: FlakeReport) -> None:
    flaky = report.tests[0]._replace(unsteady=True)
    over = flaky._replace(verdict=TestVerdict.RECOVERED)
    assert "it fails in bouts" in printed(replace(report, tests=(flaky,)), width=200)
    assert "bouts" not in printed(replace(report, tests=(over,)), width=200)


def test_the_budget_and_the_count_of_each_verdict_are_said(report: FlakeReport) -> None:
    lines = printed(report).splitlines()
    assert lines[0].endswith("budget 0.5 %")
    assert "3 tests: 1 flaky · 2 healthy" in lines


def test_a_test_that_runs_in_two_queues_is_one_test_in_two_variants(report: FlakeReport) -> None:
    twin = report.tests[0]._replace(variant=report.tests[0].variant._replace(queue="other"))
    more = replace(report, tests=(*report.tests, twin))
    assert "3 tests in 4 variants: 2 flaky · 2 healthy" in printed(more).splitlines()


def test_several_pipelines_in_one_store_are_said(report: FlakeReport) -> None:
    build = Build("acme", "ci", "1", 1, "c1", "main", "", datetime(2026, 11, 2, tzinfo=UTC), "passed")
    both = replace(report, builds=(build, replace(build, pipeline="nightly")))
    assert "2 pipelines, counted together" in printed(both).splitlines()[0]
    assert "pipeline" not in printed(report).splitlines()[0]


def test_the_session_is_told_where_a_test_has_several_in_one_place(report: FlakeReport) -> None:
    flaky, *rest = report.tests
    slow = flaky._replace(variant=flaky.variant._replace(session="pytest -m slow"))
    healthy = rest[-1]._replace(variant=flaky.variant._replace(session="pytest -m fast"))
    elsewhere = healthy._replace(variant=healthy.variant._replace(queue="other"))
    assert "pytest -m slow" in printed(replace(report, tests=(slow, *rest, healthy)))
    assert "pytest -m" not in printed(replace(report, tests=(slow, *rest, elsewhere)))


def test_a_test_that_never_failed_is_counted_and_not_listed(report: FlakeReport) -> None:
    text = printed(report)
    assert "test_clean" not in text
    assert "test_clean" in printed(report, everything=True)


def test_a_test_that_passed_first_and_failed_when_it_was_run_again_is_listed(report: FlakeReport) -> None:
    clean = next(test for test in report.tests if not test.troubled)
    again = clean._replace(verdict=TestVerdict.FLAKY, reason="build 7 both failed and passed", flaky_runs=1)
    assert "flaky: build 7 both failed and passed" in printed(replace(report, tests=(again,)))


def test_the_health_of_the_data_is_said(report: FlakeReport) -> None:
    line = printed(report, width=200).splitlines()[-1]
    for part in ("160 jobs", "1 job lost", "3 jobs without results", "5 attempts of unknown order", "7 warnings"):
        assert part in line


def test_rates_from_failed_jobs_alone_are_marked(report: FlakeReport) -> None:
    alone = replace(report, health=replace(report.health, modes=("failed",)))
    assert "no denominator" in printed(alone)


def test_a_long_list_is_cut_and_says_so(report: FlakeReport) -> None:
    many = replace(report, tests=report.tests[:1] * (SHOWN + 5))
    assert "5 more that failed; --all shows every test" in printed(many)


def test_it_fits_a_narrow_terminal(report: FlakeReport) -> None:
    assert all(len(line) <= 80 for line in printed(report, width=80).splitlines())
