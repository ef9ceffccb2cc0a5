"""What the store answers: histories, the state of the data, and the window that a query means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flake_report.model.evidence import JobState, LogMode
from flake_report.model.query import Query
from flake_report.model.rate import RunVerdict, Streak, Variant
from flake_report.model.results import Outcome, TestId


@pytest.fixture
def three_weeks(store, make):
    """21 builds, one a day from Monday; on main the even ones, and the test failed in build 8."""
    store.ingest(
        make.record(
            make.build(at, branch="main" if at % 2 == 0 else "topic"),
            make.job(f"j{at}", step="unit" if at % 4 == 0 else "kernels"),
            make.attempt("a", Outcome.FAILED if at == 8 else Outcome.PASSED, message="boom"),
            make.attempt("b"),
        )
        for at in range(1, 22)
    )
    return store


def test_cases_without_a_name_have_no_history_and_are_counted(store, make) -> None:
    for at in (1, 2):
        nameless = make.attempt("")
        store.ingest([make.record(make.build(at), make.job(f"j{at}"), nameless, make.attempt("named"))])
    assert [history.variant.test.name for history in store.histories(Query())] == ["named"]
    assert store.health(Query()).attempts == 4


def test_each_test_has_the_runs_of_its_own_place(store, make) -> None:
    """Test i runs in step j in builds 1 to 4 i + j + 1, and fails in build j + 1 of these."""
    steps = tests = range(4)
    store.ingest(
        make.record(
            make.build(at + 1),
            make.job(f"{at}-{j}", step=f"s{j}"),
            *(make.attempt(f"t{i}", Outcome.FAILED if at == j else Outcome.PASSED) for i in tests if at <= 4 * i + j),
        )
        for at in range(16)
        for j in steps
    )
    found = {(history.variant.test.name, history.variant.step): history for history in store.histories(Query())}
    assert {place: sum(streak.runs for streak in history.passes) for place, history in found.items()} == {
        (f"t{i}", f"s{j}"): 4 * i + j for i in tests for j in steps
    }
    assert {place: [run.job for run in history.runs] for place, history in found.items()} == {
        (f"t{i}", f"s{j}"): [f"{j}-{j}"] for i in tests for j in steps
    }


def counted(histories) -> dict[tuple[str, str], int]:
    return {
        (history.variant.test.name, history.variant.step): len(history.runs) + sum(each.runs for each in history.passes)
        for history in histories
    }


QUERIES = {
    "everything": (Query(), {("a", "unit"): 5, ("a", "kernels"): 16, ("b", "unit"): 5, ("b", "kernels"): 16}),
    "a branch": (Query(branch="topic", test="a"), {("a", "kernels"): 11}),
    "branches by pattern": (Query(branch="t*c", test="a"), {("a", "kernels"): 11}),
    "a branch is no part of a name": (Query(branch="topi"), {}),
    "a step by a part of its name": (Query(step="kern", test="a"), {("a", "kernels"): 16}),
    "a step by its whole name as a pattern": (Query(step="uni?", test="a"), {("a", "unit"): 5}),
    "a week back from the newest build": (
        Query(since=timedelta(days=7), test="a"), {("a", "unit"): 2, ("a", "kernels"): 6},
    ),
    "a week back from the newest build of the branch": (
        Query(since=timedelta(days=7), branch="main", test="a"), {("a", "unit"): 2, ("a", "kernels"): 2},
    ),
    "from a day on, that day included": (
        Query(since=datetime(2026, 11, 22, tzinfo=UTC), test="a"), {("a", "kernels"): 1},
    ),
    "until a day, that day left out": (
        Query(until=datetime(2026, 11, 3, tzinfo=UTC), test="a"), {("a", "kernels"): 1},
    ),
    "another queue": (Query(queue="gpu_4"), {}),
    "longer than the calendar": (Query(since=timedelta(weeks=150_000), branch="main", test="a"),
                                 {("a", "unit"): 5, ("a", "kernels"): 5}),
}  # fmt: skip


@pytest.mark.parametrize(("query", "expected"), QUERIES.values(), ids=QUERIES.keys())
def test_a_query_selects_runs(query, expected, three_weeks) -> None:
    assert counted(three_weeks.histories(query)) == expected


def test_a_history_with_a_failure_is_told_by_week(three_weeks) -> None:
    (history,) = three_weeks.histories(Query(branch="main", test="::a", step="unit"))
    assert history.variant == Variant(TestId("v1.test_x", "a"), "unit", "gpu_1", "")
    (run,) = history.runs
    assert (run.build, run.verdict, run.order) == ("8", RunVerdict.FAILED, 3)  # builds 2, 4, 6 came before it
    assert run.created_at == datetime(2026, 11, 9, tzinfo=UTC)
    assert history.passes == (Streak(1, 1, 1), Streak(5, 5, 1), Streak(7, 9, 2))


def test_histories_come_in_order_of_variants(three_weeks) -> None:
    variants = [history.variant for history in three_weeks.histories(Query())]
    assert variants == sorted(variants)


def test_jobs_without_a_retry_are_taken_in_the_order_of_their_start(store, make) -> None:
    """Two jobs of one step that ran the same test: the first to start comes first, one that never did last."""
    build, noon = make.build(), make.monday + timedelta(hours=12)
    store.ingest(
        [
            make.record(build, make.job("a", started_at=None), make.attempt("t")),
            make.record(build, make.job("b", started_at=noon), make.attempt("t")),
            make.record(build, make.job("c", started_at=noon - timedelta(1)), make.attempt("t", Outcome.FAILED)),
            make.record(build, make.job("d", started_at=None), make.attempt("t")),
        ]
    )
    (history,) = store.histories(Query())
    assert (history.runs[0].first_failed, history.runs[0].recovered) == (True, True)


def test_equal_tests_in_other_steps_queues_and_sessions_are_other_variants(store, make) -> None:
    build = make.build()
    store.ingest(
        [
            make.record(build, make.job("j1"), make.attempt("t"), make.attempt("t", session_key="pytest -k x")),
            make.record(build, make.job("j2", step="other"), make.attempt("t")),
            make.record(build, make.job("j3", queue="other"), make.attempt("t")),
        ]
    )
    assert [len(history.passes) for history in store.histories(Query())] == [1, 1, 1, 1]


def test_builds_of_two_pipelines_with_one_number_are_two_runs(store, make) -> None:
    for pipeline in ("ci", "nightly"):
        store.ingest([make.record(make.build(pipeline=pipeline), make.job(pipeline), make.attempt("t"))])
    (history,) = store.histories(Query())
    assert history.passes == (Streak(0, 1, 2),)


def test_health_counts_what_is_there_and_what_is_missing(store, make) -> None:
    newest = make.build(3)
    store.ingest(
        [
            make.record(make.build(1), make.job("whole"), make.attempt("t"), make.attempt("u", known=False)),
            make.record(make.build(2), make.job("empty"), warnings=("one", "two"), mode=LogMode.FAILED),
            make.record(newest, make.job("lost", exit_status=-1), make.attempt("t")),
            make.record(newest, make.job("out of time", state=JobState.TIMED_OUT)),
        ]
    )
    health = store.health(Query(test="no such test"))
    assert (health.builds, health.jobs, health.jobs_without_results, health.jobs_lost) == (3, 4, 2, 2)
    assert (health.attempts, health.attempts_unknown, health.warnings) == (3, 1, 2)
    assert (health.oldest, health.newest) == (make.monday, newest.created_at)
    assert health.modes == ("all", "failed")


def test_an_empty_store_is_healthy_and_empty(store) -> None:
    health = store.health(Query(since=timedelta(days=1)))
    assert (health.builds, health.jobs, health.attempts, health.newest, health.modes) == (0, 0, 0, None, ())
    assert store.histories(Query(since=timedelta(days=1))) == ()
    assert store.window(Query(since=timedelta(days=1))).since is None


def test_a_window_says_when_a_length_of_time_began(three_weeks) -> None:
    window = three_weeks.window(Query(since=timedelta(days=7), branch="main"))
    assert (window.since, window.until, window.branch) == (datetime(2026, 11, 14, tzinfo=UTC), None, "main")


def test_a_store_shows_its_state_when_it_was_opened(store, make, tmp_path) -> None:
    from flake_report.store import Store

    reader = Store.open(str(tmp_path / "store"))
    store.ingest([make.record(make.build(), make.job(), make.attempt("t"))])
    assert reader.histories(Query()) == ()
    assert len(store.histories(Query())) == len(Store.open(str(tmp_path / "store")).histories(Query())) == 1
