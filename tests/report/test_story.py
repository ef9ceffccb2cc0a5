"""The evidence behind a verdict, as a person and a program see it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from flake_report.model.evidence import Build, RetryType
from flake_report.model.rate import FlakeRate, History, Interval, Retried, Run, RunVerdict, Streak, Variant, WeekCount
from flake_report.model.results import Outcome, TestId
from flake_report.model.story import Stories, Story, ToldAttempt
from flake_report.model.verdict import Breakage, Segment, TestVerdict
from flake_report.report.story import SHOWN, to_json, to_text

VARIANT = Variant(TestId("v1.test_x", "test_y"), "unit", "gpu_1", "")
MONDAY = datetime(2026, 11, 2, 6, tzinfo=UTC)
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"{at:02}" * 20, "main", "webhook", MONDAY + timedelta(days=at), "failed")
    for at in range(20)
)


def attempt(job: str, outcome: Outcome, *, retry: int = 0, **fields: object) -> ToldAttempt:
    given = {
        "variant": VARIANT, "order": 5, "job": job, "agent": f"agent-{job}", "job_attempt": retry,
        "retry_type": RetryType.MANUAL if retry else None, "died": False, "outcome": outcome, "environment": False,
        "signature": "", "fingerprint": "", "message": "",
    }  # fmt: skip
    return ToldAttempt(**{**given, **fields})


@pytest.fixture
def stories() -> Stories:
    """Builds 0 to 19: five passes, a flaky run in build 5, passes, a skip, and a breakage from build 12 on."""
    run = Run(VARIANT, "5", 5, BUILDS[5].created_at, RunVerdict.FLAKY, first_failed=True, retried=True, recovered=True)
    failed = attempt("a", Outcome.FAILED, message="assert 1 == 2\n  where 1 = f()", fingerprint="f00d")
    struck = attempt("a", Outcome.ERROR, signature="free-memory", environment=True)
    passed = attempt("b", Outcome.PASSED, retry=1)
    lost = attempt("c", Outcome.FAILED, retry=2, died=True)
    history = History(VARIANT, (run,), (Streak(0, 4, 5), Streak(6, 8, 3), Streak(10, 11, 2)), (Streak(9, 9, 1),))
    rate = FlakeRate(
        VARIANT, Interval(11, 1, 1 / 11, 0.01, 0.35), Interval(12, 1, 1 / 12, 0.01, 0.33), 0.002, "",
        verdict=TestVerdict.BROKEN, reason="failed in all 8 runs", also_flaky=True,
        recovery=Interval(1, 1, 1.0, 0.15, 1.0), retried=Retried(manual=1), flaky_runs=1, over_budget=0.98,
        segments=(
            Segment(0, 11, 11, 1, 1, 0, 0, breakage=False),
            Segment(12, 19, 8, 8, 0, 8, 0, breakage=True, earliest=11, latest=12),
        ),
        trend=(WeekCount("2026-W45", 7, 1, 1), WeekCount("2026-W46", 12, 8, 0)),
    )  # fmt: skip
    return Stories("test_y", 0.005, BUILDS, (Story(rate, history, (failed, struck, passed, lost)),))


def printed(stories: Stories, *, width: int = 100) -> list[str]:
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in to_text(stories):
            console.print(part)
    return [line.rstrip() for line in captured.get().splitlines()]


def test_it_is_told_from_the_verdict_down_to_each_attempt(stories: Stories) -> None:
    assert printed(stories) == [
        "v1.test_x::test_y",
        "  unit · gpu_1",
        "  broken, and flaky before: failed in all 8 runs",
        "  first attempt failed in 1 of 11 runs: 9.1 %, 95 % 1.0–35.0",
        "  over the budget of 0.5 % with probability 98 %",
        "  passed on retry in 1 of 1 retried run (1 by hand): 100 %, 95 % 15–100",
        "  the environment failed 1 of 12 runs: 8.3 %, 95 % 1.0–33.0",
        "  segments",
        "    build 0 to build 11: 1 of 11 runs failed first",
        "    build 12 to build 19: 8 of 8 runs failed on every attempt: a breakage; began between build 11",
        "    and build 12 (95 %)",
        "  by week",
        "    2026-W45  1 of 7 runs failed first, 1 victim",
        "    2026-W46  8 of 12 runs failed first",
        "  runs",
        "    build 0 to build 4: 5 runs passed",
        "    build 5  0505050505  flaky  2026-11-07 06:00",
        "      agent-a",
        "      https://buildkite.com/acme/ci/builds/5#a",
        "        failed  assert 1 == 2 where 1 = f() · [f00d]",
        "        error  by the environment: free-memory",
        "      agent-b · retry 1 (manual)",
        "      https://buildkite.com/acme/ci/builds/5#b",
        "        passed",
        "      agent-c · retry 2 (manual) · lost: what ran in it does not count",
        "      https://buildkite.com/acme/ci/builds/5#c",
        "        failed",
        "    build 6 to build 11: 5 runs passed",
        "    build 9: 1 run only skipped",
    ]


def test_a_breakage_is_bounded_by_commits(stories: Stories) -> None:
    (story,) = stories.stories
    whole = Breakage(
        BUILDS[12], BUILDS[15], BUILDS[11], BUILDS[16], BUILDS[12], BUILDS[12], runs=4, failed=4, job="j",
        fingerprint="", signature="",
    )  # fmt: skip
    open_ = replace(whole, good=None, mended=None)
    told = replace(story, rate=story.rate._replace(breakages=(whole, open_)))
    lines = printed(replace(stories, stories=(told,)))
    at = lines.index("  breakage")
    assert lines[at : at + 7] == [
        "  breakage",
        "    broke after 1111111111 (build 11), up to 1212121212 (build 12)",
        "    mended after 1515151515 (build 15), up to 1616161616 (build 16)",
        "    https://buildkite.com/acme/ci/builds/12#j",
        "  breakage",
        "    broke at or before 1212121212 (build 12)",
        "    https://buildkite.com/acme/ci/builds/12#j",
    ]


def test_what_lies_in_a_breakage_is_said_to_be_left_out_of_the_rates_and_not_of_the_weeks(stories: Stories) -> None:
    (story,) = stories.stories
    whole = Breakage(BUILDS[12], BUILDS[15], None, None, BUILDS[12], BUILDS[12], 4, 4, "j", "", "")
    told = replace(story, rate=story.rate._replace(breakages=(whole,)))
    lines = printed(replace(stories, stories=(told,)))
    assert "  first attempt failed in 1 of 11 runs outside breakages: 9.1 %, 95 % 1.0–35.0" in lines
    assert "  by week, breakages included" in lines


def test_a_name_that_no_test_has_is_said() -> None:
    assert printed(Stories("nope", 0.005, BUILDS, ()))[0].startswith("no test here is named like nope")


def test_many_tests_of_one_name_are_cut_and_said(stories: Stories) -> None:
    many = Stories("test_y", 0.005, BUILDS, stories.stories * (SHOWN + 3))
    assert "… 3 more with that name; give more of it, or --all" in printed(many)


def test_it_fits_a_narrow_terminal(stories: Stories) -> None:
    assert all(len(line) <= 80 for line in printed(stories, width=80))


def test_a_program_gets_segments_and_every_attempt(stories: Stories) -> None:
    (told,) = to_json(stories)["stories"]
    assert told["verdict"] == "broken"
    assert [segment["breakage"] for segment in told["segments"]] == [False, True]
    assert told["segments"][1]["earliest"]["build"] == "11"
    (run,) = told["told_runs"]
    assert (run["build"], run["verdict"], run["url"]) == ("5", "flaky", "https://buildkite.com/acme/ci/builds/5")
    assert [(each["outcome"], each["victim"], each["lost"]) for each in run["attempts"]] == [
        ("failed", False, False), ("error", True, False), ("passed", False, False), ("failed", False, True),
    ]  # fmt: skip
