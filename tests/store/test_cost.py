"""Jobs that failed or retried, and what failed in them, as the store tells them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from flake_report.model.cost import JobFailure, SpentJob
from flake_report.model.evidence import JobState
from flake_report.model.failure import Blame, Cause
from flake_report.model.query import Query
from flake_report.model.rate import Variant
from flake_report.model.results import Outcome, TestId
from flake_report.store.cost import job_failures, spent_jobs


@pytest.fixture
def lasted(make):
    return {"started_at": make.monday, "finished_at": make.monday + timedelta(hours=1)}


def test_jobs_that_failed_or_retried_are_told_with_their_time(store, make, lasted):
    failed = {"state": JobState.FAILED, "exit_status": 1, **lasted}
    cause = Cause("no-space", "t", Blame.INFRA, 1, "x", "h")
    code = Cause("assertion", "t", Blame.CODE, 1, "x", "h")
    store.ingest(
        [
            make.record(make.build(1), make.job("passed", **lasted)),
            make.record(make.build(1), make.job("failed", **failed), causes=(cause, code)),
            make.record(make.build(2), make.job("retry", attempt=1, retry_of="failed", **lasted)),
            make.record(make.build(2), make.job("soft", soft_failed=True, state=JobState.FAILED, exit_status=1)),
            make.record(make.build(2), make.job("stopped", state=JobState.CANCELED, exit_status=1), causes=(code,)),
        ]
    )
    assert spent_jobs(store, Query()) == (
        SpentJob("failed", 0, "gpu_1", 3600.0, failed=True, died=False, signature="no-space"),
        SpentJob("retry", 1, "gpu_1", 3600.0, failed=False, died=False, retry_of="failed"),
        SpentJob("soft", 1, "gpu_1", None, failed=True, died=False),
        SpentJob("stopped", 1, "gpu_1", None, failed=True, died=True, canceled=True),
    )


def test_each_variant_that_failed_is_told_once_with_its_last_word(store, make):
    attempts = [
        make.attempt("a", Outcome.FAILED, number=0, fingerprint="first"),
        make.attempt("a", Outcome.FAILED, number=1, fingerprint="last", signature="free", blame="gpu-memory"),
        make.attempt("b"),
        make.attempt("c", Outcome.ERROR, session_key="pytest v1"),
    ]
    store.ingest([make.record(make.build(), make.job(), *attempts)])
    a = Variant(TestId("v1.test_x", "a"), "unit", "gpu_1", "")
    c = Variant(TestId("v1.test_x", "c"), "unit", "gpu_1", "pytest v1")
    assert job_failures(store, Query()) == (
        JobFailure("job", 0, a, "free", "last", victim=True),
        JobFailure("job", 0, c, "", "", victim=False),
    )
