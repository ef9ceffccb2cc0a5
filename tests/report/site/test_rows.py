"""The order of tests, what stands beside their numbers, and what a test's own view is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flake_report.model.evidence import Build
from flake_report.model.rate import Streak
from flake_report.model.story import Story
from flake_report.report.site.detail import RUNS, Details, key
from flake_report.report.site.rows import apart


def test_weeks_are_counted_over_the_turn_of_the_year() -> None:
    assert apart("2026-W48", "2026-W48") == 0
    assert apart("2025-W52", "2026-W02") == 2
    assert apart("2026-W52", "2027-W01") == 2  # 2026 has 53 ISO weeks


def test_the_address_of_a_test_is_the_same_in_every_report_and_tells_variants_apart(
    told: Callable[..., Story],
) -> None:
    one, other = told("test_a").rate.variant, told("test_b").rate.variant
    assert key(one) == key(told("test_a").rate.variant)
    assert len({key(one), key(other), key(one._replace(queue="q")), key(one._replace(session="s"))}) == 4


def details(story: Story, builds: tuple[Build, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What one test is told, and what is shared."""
    made = Details(builds, 0.005)
    made.add(story)
    payload: dict[str, Any] = made.payload()
    return payload["tests"][key(story.rate.variant)], payload


def test_runs_and_the_passes_between_them_stand_in_order(told: Callable[..., Story], builds: tuple[Build, ...]) -> None:
    one, shared = details(told("test_a"), builds)
    assert [cell[:2] if cell[0] == 2 else cell for cell in one["cells"]] == [
        [0, 0, 4, 5], [2, 5], [0, 6, 14, 9], [2, 15], [0, 16, 19, 4],
    ]  # fmt: skip
    outcome, victim, lost, agent, retry, _, fingerprint, message, job = one["cells"][1][3][1]
    text = shared["texts"]
    assert (shared["outcomes"][outcome], victim, lost) == ("passed", 0, 0)
    assert (text[agent], text[retry], text[fingerprint], text[message], text[job]) == (
        "agent",
        "retry 1",
        "",
        "",
        "job-5-1",
    )
    assert shared["builds"]["5"][:2] == ["build 6", f"{5:040x}"[:10]]
    assert shared["builds"]["5"][3] == "https://buildkite.com/acme/ci/builds/6"


def test_streaks_of_several_weeks_between_two_runs_are_one(
    told: Callable[..., Story], builds: tuple[Build, ...]
) -> None:
    story = told("test_a", flaky=False)
    history = story.history._replace(passes=(Streak(0, 9, 8), Streak(10, 19, 7)), skips=(Streak(3, 4, 2),))
    one, _ = details(replace(story, history=history), builds)
    assert one["cells"] == [[0, 0, 19, 15], [1, 3, 4, 2]]


def test_only_the_newest_runs_are_told_and_those_before_counted(
    told: Callable[..., Story], builds: tuple[Build, ...]
) -> None:
    story = told("test_a")
    many = tuple(story.history.runs[0]._replace(order=at) for at in range(RUNS + 5))
    history = story.history._replace(runs=many, passes=(Streak(0, 1, 1),))
    longer = builds * 4
    one, _ = details(replace(story, history=history), longer)
    assert one["before"] == 5
    assert [cell[1] for cell in one["cells"]] == list(range(5, RUNS + 5))


def test_failed_attempts_are_counted_by_fingerprint_and_by_agent(
    told: Callable[..., Story], builds: tuple[Build, ...]
) -> None:
    one, shared = details(told("test_a", "AssertionError: 7", signature="python-exception"), builds)
    text = shared["texts"]
    ((fingerprint, signature, count, message),) = one["prints"]
    assert (text[fingerprint], text[signature], count, text[message]) == (
        "f00d",
        "python-exception",
        2,
        "AssertionError: 7",
    )
    assert [(text[agent], count) for agent, count in one["agents"]] == [("agent", 2)]
    assert one["weeks"][0] == ["2026-W47", 10, 1, 0, 0.1, 0.011, 0.381]
