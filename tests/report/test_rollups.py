"""Roll-ups as a person and a program see them."""

from __future__ import annotations

import pytest
from rich.console import Console

from flake_report.model.rate import Interval, Level, RollUp
from flake_report.report.rollups import FEW, SHOWN, to_json, to_text


def rollup(name: str, hits: int, *, level: Level = Level.STEP, failing: int = 9) -> RollUp:
    own = Interval(400, hits, hits / 400, 0.01, 0.05)
    return RollUp(level, name, 12, own, jobs=80, failing_jobs=failing, design_effect=2.0, effective=190.4)


def printed(*rollups: RollUp, everything: bool = False) -> list[str]:
    console = Console(width=80, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in to_text(rollups, everything=everything):
            console.print(part)
    return captured.get().splitlines()


def test_a_line_has_the_rate_its_interval_the_runs_and_what_they_are_worth() -> None:
    lines = printed(rollup("unit", 8))
    assert lines[2].split() == ["2.0", "%", "1.0–5.0", "8/400", "190", "step", "unit"]
    assert len(lines) == 4


def test_millions_of_runs_stay_apart_below_their_headings() -> None:
    own = Interval(4_793_810, 8_107, 0.0017, 0.0016, 0.0018)
    many = RollUp(Level.QUEUE, "gpu_4", 12, own, jobs=80, failing_jobs=9, design_effect=1.0, effective=4_793_697.0)
    _, heading, line, short, _ = printed(many, rollup("unit", 8))
    assert line.split()[3:] == ["8,107/4,793,810", "4,793,697", "queue", "gpu_4"]
    for title in ("runs", "worth"):
        end = heading.index(title) + len(title)
        assert line[end - 1].isdigit()
        assert short[end - 1].isdigit()
        assert line[end] == short[end] == " "


def test_an_interval_that_rests_on_few_jobs_is_marked_and_the_mark_explained() -> None:
    lines = printed(rollup("unit", 8, failing=FEW - 1))
    assert "1.0–5.0!" in lines[2]
    assert lines[3].startswith("! failures in fewer than 5 jobs")


def test_each_level_shows_its_first_names_and_all_of_them_when_asked() -> None:
    many = [rollup(f"s{at}", 9 - at) for at in range(SHOWN + 2)]
    assert sum("step s" in line for line in printed(*many)) == SHOWN
    assert sum("step s" in line for line in printed(*many, everything=True)) == SHOWN + 2


def test_files_are_shown_with_everything_alone() -> None:
    file = rollup("v1/test_x.py", 3, level=Level.FILE)
    assert printed(file) == []
    assert any("file v1/test_x.py" in line for line in printed(file, everything=True))


def test_where_nothing_failed_nothing_is_shown() -> None:
    assert printed(rollup("unit", 0)) == []


@pytest.mark.parametrize("key", ["level", "name", "own_runs", "jobs", "failing_jobs", "design_effect", "effective"])
def test_a_program_gets_what_the_interval_rests_on(key) -> None:
    assert key in to_json(rollup("unit", 8))
