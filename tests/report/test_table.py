"""The history as a person sees it."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from flake_report.model.report import FlakeReport
from flake_report.report.table import SHOWN, to_text


def printed(report: FlakeReport, *, everything: bool = False, width: int = 110) -> str:
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in to_text(report, everything=everything):
            console.print(part)
    return captured.get()


def test_each_rate_stands_with_its_runs_and_interval(report: FlakeReport) -> None:
    lines = printed(report).splitlines()
    numbers = lines[next(place for place, line in enumerate(lines) if "test_flaky[a]" in line) + 1]
    assert numbers.split()[:8] == ["5.0", "%", "1.7–11.5", "4/80", "0.0", "%", "0.0–3.1", "0/80"]


def test_a_test_that_never_failed_is_counted_and_not_listed(report: FlakeReport) -> None:
    text = printed(report)
    assert "test_clean" not in text
    assert "1 of 3 tests never failed here" in text
    assert "test_clean" in printed(report, everything=True)


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
