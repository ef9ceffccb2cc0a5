"""The runs of one test: told one by one, but for many in a row that failed alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rich.console import Console

from flake_report.model.evidence import Build
from flake_report.model.rate import FlakeRate, History, Interval, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId
from flake_report.model.story import Story
from flake_report.report.runs import ALIKE, to_text

VARIANT = Variant(TestId("m", "t"), "unit", "q", "")
MONDAY = datetime(2026, 11, 2, 6, tzinfo=UTC)
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"{at:02}" * 20, "main", "", MONDAY + timedelta(days=at), "") for at in range(12)
)
NO_RATE = Interval(0, 0, 0.0, 0.0, 1.0)


def told(spelled: str, *, everything: bool = False) -> list[str]:
    """The builds that are named, a line each: `.` passes; other letters failed, each in its own way."""
    runs = tuple(
        Run(VARIANT, str(at), at, BUILDS[at].created_at, RunVerdict.FAILED, fingerprint=letter.strip("?"))
        for at, letter in enumerate(spelled)
        if letter != "."
    )
    passes = tuple(Streak(at, at, 1) for at, letter in enumerate(spelled) if letter == ".")
    story = Story(FlakeRate(VARIANT, NO_RATE, NO_RATE, 0.0, ""), History(VARIANT, runs, passes), ())
    console = Console(width=100, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in to_text(story, BUILDS, everything=everything):
            console.print(part)
    return [line.strip().partition("  ")[0] for line in captured.get().splitlines()]


def test_of_many_in_a_row_that_failed_alike_the_first_and_the_last_are_told() -> None:
    assert told(".aaaaa.") == [
        "build 0: 1 run passed",
        "build 1",
        "build 2 to build 4: 3 runs failed in the same way; --all tells each",
        "build 5",
        "build 6: 1 run passed",
    ]


def test_all_of_them_are_told_where_everything_is_asked_for() -> None:
    assert told("aaaaa", everything=True) == [f"build {at}" for at in range(5)]


def test_few_in_a_row_are_told_each() -> None:
    assert len(told("a" * (ALIKE - 1))) == ALIKE - 1


def test_a_pass_or_another_way_to_fail_begins_anew() -> None:
    assert told("aa.aa") == ["build 0", "build 1", "build 2: 1 run passed", "build 3", "build 4"]
    assert told("aabb") == ["build 0", "build 1", "build 2", "build 3"]


def test_failures_without_a_fingerprint_are_not_known_to_be_alike() -> None:
    assert told("?????") == [f"build {at}" for at in range(5)]
