"""Buildkite's REST shapes, field by field, as its documentation gives them; anything else reads as unknown."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.collect.wire import read_build, read_jobs, step_of
from flake_report.errors import FlakeReportError
from flake_report.model.evidence import JobState, RetryType
from gpu_guard import label as recorder
from gpu_guard.label import plain_label

LABELS = json.loads(Path(recorder.__file__).with_name("label.cases.json").read_text(encoding="utf-8"))["cases"]
PIECES = st.sampled_from(
    [":a:", ":", "a", " ", "2", "3/4", "2 of 3", "%n", "%t", "/", "(", ")", "[", "]", "#", "shard ", "part ", "-", ".",
     "\ufe0f", "\u20e3", "🚀", "→"]
)  # fmt: skip


def test_a_build_keeps_what_puts_it_in_order(rest_build: Callable) -> None:
    build = read_build(rest_build(), "example", "ci")
    assert (build.org, build.pipeline, build.key, build.number) == ("example", "ci", "7", 7)
    assert build.created_at == datetime(2026, 4, 15, 18, 20, 11, 532000, tzinfo=UTC)
    assert (build.branch, build.source, build.state) == ("main", "webhook", "failed")


def test_a_time_in_another_zone_is_turned_into_utc(rest_build: Callable) -> None:
    build = read_build(rest_build(created_at="2026-04-16T03:20:11+09:00"), "example", "ci")
    assert build.created_at == datetime(2026, 4, 15, 18, 20, 11, tzinfo=UTC)
    assert build.created_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"number": None}, "number"),
        ({"number": "7"}, "number"),
        ({"number": True}, "number"),
        ({"created_at": None}, "created_at"),
        ({"created_at": "yesterday"}, "created_at"),
    ],
    ids=str,
)
def test_a_build_that_cannot_be_put_in_order_is_an_error(rest_build: Callable, fields: dict, named: str) -> None:
    with pytest.raises(FlakeReportError, match=f"build of example/ci without a readable `{named}`"):
        read_build(rest_build(**fields), "example", "ci")


def test_a_job_keeps_where_it_ran_and_how_it_ended(rest_job: Callable) -> None:
    [job] = read_jobs([rest_job()])
    assert (job.id, job.step, job.label) == ("job-1", "kv-connectors", ":nvidia: V1 KV Connectors")
    assert (job.queue, job.agent, job.host) == ("gpu_1_queue", "l4-sim-1", "host-1")
    assert (job.state, job.exit_status, job.signal_reason, job.soft_failed) == (JobState.FAILED, 1, "", False)
    assert (job.attempt, job.retry_of, job.retry_type) == (0, None, None)
    assert job.started_at == datetime(2026, 4, 15, 18, 21, tzinfo=UTC)
    assert job.finished_at == datetime(2026, 4, 15, 18, 45, 1, 250000, tzinfo=UTC)


@pytest.mark.parametrize("kind", ["waiter", "manual", "trigger"])
def test_what_ran_no_command_is_no_job(rest_job: Callable, kind: str) -> None:
    assert read_jobs([rest_job(type=kind)]) == []


@pytest.mark.parametrize(
    ("state", "read"),
    [
        ("passed", JobState.PASSED),
        ("timed_out", JobState.TIMED_OUT),
        ("limited", JobState.UNKNOWN),
        (None, JobState.UNKNOWN),
    ],
)
def test_a_state_is_one_of_ours_or_unknown(rest_job: Callable, state: object, read: JobState) -> None:
    [job] = read_jobs([rest_job(state=state)])
    assert job.state is read


@pytest.mark.parametrize(
    ("fields", "queue"),
    [
        pytest.param(
            {"agent_query_rules": ["os=linux", "queue=mithril-h100-pool"]}, "mithril-h100-pool", id="from the rules"
        ),
        pytest.param({"agent_query_rules": None}, "gpu_1_queue", id="else from the agent"),
        pytest.param({"agent_query_rules": [], "agent": None}, "", id="else unknown"),
        pytest.param({"agent_query_rules": ["queue = spaced "]}, "spaced", id="spaces do not count"),
        pytest.param({"agent_query_rules": "queue=text", "agent": {}}, "", id="a list is wanted"),
    ],
)
def test_the_queue_is_known_from_rules_or_agent(rest_job: Callable, fields: dict, queue: str) -> None:
    [job] = read_jobs([rest_job(**fields)])
    assert job.queue == queue


@pytest.mark.parametrize("case", LABELS, ids=lambda case: case["case"])
def test_without_a_key_the_label_without_emoji_and_shard_is_the_step(case: dict) -> None:
    assert step_of("", case["label"], parallel=case["parallel"]) == case["step"]


@settings(max_examples=500)
@given(label=st.lists(PIECES | st.text(max_size=5), max_size=8).map("".join), parallel=st.booleans())
def test_the_recorder_names_every_step_alike(label: str, *, parallel: bool) -> None:
    assert step_of("", label, parallel=parallel) == plain_label(label, parallel=parallel)


def test_the_step_key_wins_over_the_label() -> None:
    assert step_of("kv", ":nvidia: KV 1/4") == "kv"


def test_a_plain_number_is_a_shard_only_in_a_parallel_step(rest_job: Callable) -> None:
    parallel = rest_job(step_key=None, name="Kernels 2", parallel_group_index=1, parallel_group_total=4)
    alone = rest_job(id="job-2", step_key=None, name="Kernels 2")
    assert [(job.step, job.shard) for job in read_jobs([parallel, alone])] == [("Kernels", "1/4"), ("Kernels 2", "")]


@pytest.mark.parametrize(
    ("label", "shard"),
    [
        ("Kernels (2/4)", "2/4"),
        ("Kernels 3 of 8", "3/8"),
        ("Kernels [1/2] ", "1/2"),
        ("Kernels %N", ""),
        ("Spec Decode 2", ""),
    ],
)
def test_else_the_label_tells_the_shard(rest_job: Callable, label: str, shard: str) -> None:
    [job] = read_jobs([rest_job(name=label)])
    assert job.shard == shard


def chain(rest_job: Callable, *, forward: bool, backward: bool) -> list[dict]:
    """Three jobs, each the automatic retry of the one before, linked from one end or the other or both."""
    jobs = []
    for place in range(3):
        fields: dict = {"id": f"job-{place}"}
        if place < 2:
            fields |= {"retried": True}
            fields |= {"retried_in_job_id": f"job-{place + 1}", "retry_type": "automatic"} if forward else {}
        if place and backward:
            fields |= {"retry_source": {"job_id": f"job-{place - 1}", "retry_type": "automatic"}}
        jobs.append(rest_job(**fields))
    return jobs


@pytest.mark.parametrize(("forward", "backward"), [(True, True), (True, False), (False, True)])
def test_a_chain_of_retries_is_known_from_either_end(rest_job: Callable, *, forward: bool, backward: bool) -> None:
    jobs = read_jobs(chain(rest_job, forward=forward, backward=backward))
    assert [(job.attempt, job.retry_of) for job in jobs] == [(0, None), (1, "job-0"), (2, "job-1")]
    assert [job.retry_type for job in jobs] == [None, RetryType.AUTOMATIC, RetryType.AUTOMATIC]


def test_a_manual_retry_is_told_from_an_automatic_one(rest_job: Callable) -> None:
    source = {"job_id": "job-1", "retry_type": "manual"}
    _, job = read_jobs([rest_job(retried=True), rest_job(id="job-2", retry_source=source)])
    assert job.retry_type is RetryType.MANUAL


def test_a_retry_whose_first_job_is_not_there_still_names_it(rest_job: Callable) -> None:
    [job] = read_jobs([rest_job(retry_source={"job_id": "gone", "retry_type": "automatic"})])
    assert (job.attempt, job.retry_of) == (1, "gone")


def test_without_any_link_the_count_tells_the_attempt(rest_job: Callable) -> None:
    [job] = read_jobs([rest_job(retries_count=2, retry_type="automatic")])
    assert (job.attempt, job.retry_of, job.retry_type) == (2, None, RetryType.AUTOMATIC)


def test_the_count_of_a_job_that_was_retried_is_of_what_came_after(rest_job: Callable) -> None:
    [job] = read_jobs([rest_job(retries_count=1, retried=True, retry_type="manual")])
    assert (job.attempt, job.retry_type) == (0, None)


def test_a_circle_of_retries_ends(rest_job: Callable) -> None:
    circle = [rest_job(retried_in_job_id="job-2"), rest_job(id="job-2", retried_in_job_id="job-1")]
    assert [job.attempt for job in read_jobs(circle)] == [1, 1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["name", "label", "step_key", "agent", "agent_query_rules", "retry_source", "retried_in_job_id", "retries_count",
     "retry_type", "state", "exit_status", "started_at", "parallel_group_index", "parallel_group_total", "soft_failed"]
)  # fmt: skip


@given(st.dictionaries(FIELDS, JSON))
def test_no_value_of_any_field_breaks_the_reading(fields: dict) -> None:
    [job] = read_jobs([{"id": "job-1", **fields}])
    assert job.id == "job-1"
    assert job.attempt >= 0
