"""The attempts behind the runs that need telling."""

from __future__ import annotations

import pytest

from flake_report.model.evidence import RetryType
from flake_report.model.query import Query
from flake_report.model.results import Outcome
from flake_report.store import Store
from flake_report.store.evidence import told_attempts


@pytest.fixture
def told(store, make) -> Store:
    """Build 1 plainly passed; in build 2 the test failed, and passed in a retry by hand; in 3 its job was lost."""
    failed = make.attempt("a", Outcome.FAILED, message="boom", signature="oom", blame="gpu", fingerprint="f1")
    retry = make.job("j2r", attempt=1, retry_type=RetryType.MANUAL, agent="agent-2")
    store.ingest(
        [
            make.record(make.build(1), make.job("j1"), make.attempt("a"), make.attempt("b")),
            make.record(make.build(2), make.job("j2"), failed, make.attempt("b")),
            make.record(make.build(2), retry, make.attempt("a"), make.attempt("b")),
            make.record(make.build(3), make.job("j3", exit_status=-1), make.attempt("a"), make.attempt("b")),
        ]
    )
    return store


def test_runs_that_need_telling_are_told_attempt_by_attempt(told) -> None:
    attempts = told_attempts(told, Query(test="::a"))
    assert [(each.order, each.job, each.outcome, each.job_attempt, each.died) for each in attempts] == [
        (1, "j2", Outcome.FAILED, 0, False),
        (1, "j2r", Outcome.PASSED, 1, False),
        (2, "j3", Outcome.PASSED, 0, True),
    ]
    first, second, _ = attempts
    assert (first.environment, first.signature, first.fingerprint, first.message) == (True, "oom", "f1", "boom")
    assert (second.retry_type, second.agent, second.environment) == (RetryType.MANUAL, "agent-2", False)


def test_they_are_those_of_the_histories(told) -> None:
    for query in (Query(), Query(test="::b"), Query(branch="none")):
        histories = told.histories(query)
        runs = {(history.variant, run.order) for history in histories for run in history.runs}
        assert {(each.variant, each.order) for each in told_attempts(told, query)} == runs


def test_a_long_message_is_cut(store, make) -> None:
    store.ingest([make.record(make.build(), make.job(), make.attempt("a", Outcome.FAILED, message="x" * 5000))])
    (attempt,) = told_attempts(store, Query())
    assert attempt.message == "x" * 400
