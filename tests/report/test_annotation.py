"""The annotation of a build: what it says, how it is coloured, and that it always fits."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from flake_report.model.evidence import Build, Job, JobState
from flake_report.model.failure import Blame, Cause
from flake_report.model.known import KnownFailures
from flake_report.model.rate import Variant
from flake_report.model.results import TestId
from flake_report.model.triage import BuildFailure, FailureKind, Recovered, Triage
from flake_report.report.annotation import LIMIT, Style, annotation, style, to_json

UUID = "0196a0f3-aaaa-4000-8000-000000000007"
BUILD = Build("acme", "ci", "812", 812, "c", "main", "webhook", datetime(2026, 11, 30, tzinfo=UTC), "failed")
JOB = Job(
    UUID, "unit", ":pytest: unit", "l4", "l4-1", "", JobState.FAILED, 1, "", soft_failed=False, attempt=0,
    retry_type=None, retry_of=None, shard="", started_at=None, finished_at=None, command="",
)  # fmt: skip
KNOWN = KnownFailures(
    60, oldest=datetime(2026, 3, 30, tzinfo=UTC), newest=datetime(2026, 5, 10, tzinfo=UTC), branch="main"
)


def failure(kind: FailureKind, name: str = "t[a]", **fields: object) -> BuildFailure:
    variant = Variant(TestId("v1.x", name), "unit", "l4", "")
    whole = BuildFailure(kind, variant, JOB, "AssertionError: no", "so it is", "look at it")
    return replace(whole, **fields)


def told(*failures: BuildFailure, **fields: object) -> Triage:
    return replace(Triage(BUILD, 3, 120, failures, known=KNOWN), **fields)


def lines(found: Triage, **options: object) -> list[str]:
    return html.unescape(re.sub(r"</?code>", "`", annotation(found, **options))).splitlines()


def test_it_tells_what_failed_where_why_and_what_to_do() -> None:
    new = failure(FailureKind.NEW, owner="@core", seen="https://buildkite.com/acme/ci/builds/790#job-9")
    assert lines(told(new, failure(FailureKind.FLAKE, "u"))) == [
        "**2 failures of 120 tests in 3 jobs: 1 new · 1 flake**",
        "",
        "Compared with 60 builds · `main` · 2026-03-30 to 2026-05-10.",
        "",
        "#### New: 1",
        "",
        f"- `v1.x::t[a]` · `unit` · `l4` · [job](#{UUID}) · owner `@core`",
        "  - `AssertionError: no`",
        "  - so it is ([last time](https://buildkite.com/acme/ci/builds/790#job-9))",
        "  - **do** look at it",
        "",
        "#### Known flakes: 1",
        "",
        f"- `v1.x::u` · `unit` · `l4` · [job](#{UUID})",
        "  - `AssertionError: no`",
        "  - so it is",
        "  - **do** look at it",
    ]


def test_what_one_thing_struck_in_one_job_is_one_item_with_its_numbers() -> None:
    captures = {"free_gib": 4.51, "total_gib": 22.05, "requested_gib": 10.36, "utilization": 0.47}
    cause = Cause("free-memory", "x", Blame.GPU_MEMORY, 7, "", "", captures=captures)
    struck = [failure(FailureKind.GPU_MEMORY, f"t{at}", cause=cause, signature="free-memory") for at in range(38)]
    page = lines(told(*struck))
    assert "#### GPU memory: 38" in page
    assert [line for line in page if line.startswith("- ")] == [
        f"- `v1.x::t0` and 37 more tests · `unit` · `l4` · [job](#{UUID})"
    ]
    assert "  - 4.51 of 22.05 GiB free · asked 10.36 (utilization 0.47) · short by 5.85" in page


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (told(failure(FailureKind.FLAKE), failure(FailureKind.NEW)), Style.ERROR),
        (told(failure(FailureKind.REGRESSION)), Style.ERROR),
        (told(failure(FailureKind.UNCLEAR)), Style.ERROR),
        (told(failure(FailureKind.FLAKE), failure(FailureKind.GPU_MEMORY)), Style.WARNING),
        (told(recovered=(Recovered(failure(FailureKind.NEW).variant, JOB, "", flake=False),)), Style.INFO),
        (told(), Style.SUCCESS),
        (told(jobs=0, tests=0), Style.INFO),
    ],
    ids=["new", "a regression", "unclear", "known alone", "passed when tried again", "green", "no results"],
)
def test_it_is_red_only_where_somebody_must_look(found: Triage, expected: Style) -> None:
    assert style(found) is expected


def test_a_passing_retry_says_that_no_test_failed_in_the_end() -> None:
    recovered = Recovered(failure(FailureKind.NEW).variant, JOB, "AssertionError: no", flake=True)
    page = lines(told(recovered=(recovered,)))
    assert page[0] == "**No test failed in the end: 120 tests in 3 jobs · 1 test passed when tried again**"
    assert f"- `v1.x::t[a]` · `unit` · `l4` · [job](#{UUID}) · a known flake: `AssertionError: no`" in page


def test_without_history_it_says_so() -> None:
    assert "There was no history to compare with" in annotation(told(known=None))
    assert "7 known tests had no room" in annotation(told(known=replace(KNOWN, left_out=7)))


@pytest.mark.parametrize("limit", [LIMIT, 20_000, 2_000])
def test_any_number_of_failures_fits_and_the_rest_is_counted(limit: int) -> None:
    many = [
        failure(kind, f"测试 {at} {'_[`<' * 200}", message="é" * 10_000) for kind in FailureKind for at in range(200)
    ]
    page = annotation(told(*many), limit=limit)
    assert len(page.encode()) <= limit
    assert page.startswith("**1,800 failures of 120 tests in 3 jobs: 200 new · 200 regression")
    shown = len(re.findall(r"^- <code>", page, re.MULTILINE))
    left = sum(int(found.replace(",", "")) for found in re.findall(r"^- … ([\d,]+) more$", page, re.MULTILINE))
    grouped = 5 * 199  # of the environment's five kinds, 200 victims of one job are one item
    assert shown + left == 1800 - grouped


def test_hostile_names_messages_and_addresses_stay_text() -> None:
    evil = "</code><script>alert(1)</script> | [x](javascript:y) `\n\n# h @team \u202e"
    job = replace(JOB, id=evil, step=evil, queue=evil)
    variant = Variant(TestId(evil, evil, evil), evil, evil, evil)
    bad = failure(
        FailureKind.NEW, variant=variant, job=job, message=evil, why=evil, advice=evil, seen="javascript:x", owner=evil
    )
    page = annotation(told(bad, recovered=(Recovered(variant, job, evil, flake=False),)), artifacts=['a"><script>.png'])
    rendered = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(page)
    tags = set(re.findall(r"<(\w+)", rendered))
    assert tags == {"p", "strong", "h4", "ul", "li", "code", "img"}
    assert "javascript:x" not in rendered
    assert "\u202e" not in rendered


def test_images_are_shown_and_other_artifacts_are_linked() -> None:
    page = annotation(told(), artifacts=["report/week.png", "report/index.html"])
    assert '<img src="artifact://report/week.png" alt="report/week.png">' in page
    assert '<a href="artifact://report/index.html"><code>report/index.html</code></a>' in page


def test_a_job_that_failed_outside_its_tests_and_a_branchless_history_are_told() -> None:
    job = replace(JOB, id="lint", step="lint", queue="")
    outside = failure(FailureKind.UNCLEAR, variant=None, job=job, message=" ", advice="")
    known = replace(KNOWN, branch="", oldest=None, newest=None)
    page = lines(told(outside, known=known, build=None))
    assert page[page.index("#### Unclear: 1") + 2 :] == ["- the job itself · `lint`", "  - so it is"]
    assert "Compared with 60 builds." in page


def test_a_build_without_results_says_so() -> None:
    assert lines(told(jobs=0, tests=0))[0] == "**No test results were found in this build**"


def test_the_json_has_every_failure_and_what_passed_when_tried_again() -> None:
    new = failure(FailureKind.NEW)
    found = to_json(told(new, recovered=(Recovered(new.variant, JOB, "late", flake=True),)))
    place = {"test": "v1.x::t[a]", "step": "unit", "queue": "l4", "job": UUID}
    assert found == {
        "jobs": 3,
        "tests": 120,
        "compared_with_builds": 60,
        "failures": [
            {
                "kind": "new", **place, "message": "AssertionError: no", "why": "so it is", "advice": "look at it",
                "signature": "", "seen": None, "owner": "",
            }
        ],
        "recovered": [{**place, "message": "late", "flake": True}],
    }  # fmt: skip
    assert to_json(told(known=None))["compared_with_builds"] is None
