"""What is wanted of each job, and when a look at a build still holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.collect.asked import Asked, Look, look_at
from flake_report.model.evidence import LogMode

ALL, FAILED = LogMode.ALL, LogMode.FAILED
ASKED = st.builds(Asked, st.sampled_from(LogMode), st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(tuple))
WHOLE = Asked(ALL, ("*.xml",))

Make = Callable[..., dict[str, Any]]


@given(ASKED, ASKED)
def test_two_wishes_joined_cover_both_and_nothing_less_does(one: Asked, other: Asked) -> None:
    both = one.joined(other)
    assert both.covers(one)
    assert both.covers(other)
    if one.covers(other):
        assert set(both.artifacts) == set(one.artifacts)
        assert both.logs is one.logs


@given(ASKED)
def test_a_wish_survives_being_written_down(asked: Asked) -> None:
    assert Asked.read(asked.written()) == asked


@pytest.mark.parametrize("value", [None, 3, [], {}, {"logs": "some"}, {"logs": ["all"]}])
def test_what_is_no_wish_reads_as_none(value: object) -> None:
    assert Asked.read(value) is None


@pytest.mark.parametrize(
    ("state", "started", "of_all", "of_failed"),
    [
        ("passed", True, True, False),
        ("failed", True, True, True),
        ("timed_out", True, True, True),
        ("canceled", True, True, True),
        ("canceled", False, False, False),
        ("broken", False, False, False),
        ("expired", False, False, False),
    ],
)
def test_jobs_that_ran_are_wanted_and_in_the_one_mode_only_those_that_did_not_pass(
    rest_job: Make, *, state: str, started: bool, of_all: bool, of_failed: bool
) -> None:
    job = rest_job(state=state, started_at="2026-04-15T18:21:00Z" if started else None)
    assert (Asked(ALL, ()).wants(job), Asked(FAILED, ()).wants(job)) == (of_all, of_failed)


def test_a_look_at_an_ended_build_holds(rest_build: Make, rest_job: Make) -> None:
    build = rest_build(jobs=[rest_job()])
    look = Look.read(look_at(build, build["jobs"], WHOLE).written())
    assert look.still_holds(build, WHOLE)
    assert look.still_holds({key: value for key, value in build.items() if key != "jobs"}, WHOLE)
    assert look.still_holds(build, Asked(FAILED, ()))
    assert not look.still_holds(build, Asked(ALL, ("*.xml", "*.json")))


def test_agents_that_go_away_and_counters_change_nothing(rest_build: Make, rest_job: Make) -> None:
    build = rest_build(jobs=[rest_job(agent={"connection_state": "connected"})], pipeline={"running_builds_count": 1})
    look = look_at(build, build["jobs"], WHOLE)
    later = rest_build(jobs=[rest_job(agent={"connection_state": "lost"})], pipeline={"running_builds_count": 9})
    assert look.still_holds(later, WHOLE)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "running"},
        {"finished_at": "2026-05-01T00:00:00Z"},
        {"blocked": True},
        {"jobs": [{"id": "job-1", "state": "failed", "retried_in_job_id": "job-2"}]},
        {"jobs": []},
    ],
    ids=str,
)
def test_whatever_happens_to_a_build_ends_it(rest_build: Make, rest_job: Make, change: dict) -> None:
    build = rest_build(jobs=[rest_job()])
    look = look_at(build, build["jobs"], WHOLE)
    assert not look.still_holds({**build, **change}, WHOLE)


@pytest.mark.parametrize(
    ("state", "job_state", "settled"),
    [
        ("passed", "passed", True),
        ("passed", "blocked", True),
        ("failed", "waiting_failed", True),
        ("running", "passed", False),
        ("failing", "passed", False),
        ("failed", "running", False),
        ("failed", "scheduled", False),
        ("passed", None, False),
    ],
)
def test_a_build_is_settled_when_nothing_in_it_runs(
    rest_build: Make, rest_job: Make, *, state: str, job_state: str | None, settled: bool
) -> None:
    build = rest_build(state=state, jobs=[rest_job(state=job_state), {"type": "manual", "state": "blocked"}])
    assert look_at(build, build["jobs"], WHOLE).settled is settled
    assert not look_at(build, build["jobs"], None).settled


@given(st.dictionaries(st.sampled_from(["build", "jobs", "asked", "settled"]), st.none() | st.text() | st.booleans()))
def test_a_damaged_memory_holds_for_nothing(value: dict) -> None:
    look = Look.read(value)
    assert not look.still_holds({"id": "x", "state": "passed"}, WHOLE)
