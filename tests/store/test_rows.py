"""Columns of many records are what their rows are, one by one."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake_report.model.record import ClassifiedAttempt
from flake_report.model.results import Attempt, Outcome, Phase, ResultSource, TestId
from flake_report.store.layout import TABLES
from flake_report.store.rows import table_of

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEXT = st.sampled_from(["", "a", "b", "é"])  # few, so that columns of one value are common
ATTEMPTS = st.builds(
    Attempt,
    test=st.builds(TestId, TEXT, TEXT, TEXT),
    outcome=st.sampled_from(Outcome),
    number=st.integers(0, 1),
    known=st.booleans(),
    phase=st.none() | st.sampled_from(Phase),
    seconds=st.sampled_from([None, 0.0, -0.0, 1.5]),
    started_at=st.sampled_from([None, NOON, NOON.astimezone(timezone(timedelta(hours=1)))]),
    message=TEXT,
    file=TEXT,
    session=TEXT,
    session_key=TEXT,
    worker=TEXT,
    pid=st.sampled_from([None, 0, 7]),
    position=st.sampled_from([None, 0, 1]),
    source=st.sampled_from(ResultSource),
    fingerprint=TEXT,
)
CLASSIFIED = st.builds(ClassifiedAttempt, ATTEMPTS, TEXT, TEXT)
SAME = st.tuples(CLASSIFIED, st.integers(0, 4)).map(lambda one: [one[0]] * one[1])


def row(ingest: int, job: str, ordinal: int, classified: ClassifiedAttempt) -> dict[str, Any]:
    """As the layout describes it."""
    attempt = classified.attempt
    return {
        "org": "acme",
        "pipeline": "ci",
        "build": "1",
        "ingest": ingest,
        "job": job,
        "ordinal": ordinal,
        "classname": attempt.test.classname,
        "name": attempt.test.name,
        "apart": attempt.test.apart,
        "file": attempt.file,
        "session": attempt.session,
        "session_key": attempt.session_key,
        "position": attempt.position,
        "pid": attempt.pid,
        "worker": attempt.worker,
        "attempt": attempt.number,
        "attempts_known": attempt.known,
        "outcome": attempt.outcome.value,
        "phase": attempt.phase.value if attempt.phase else None,
        "seconds": attempt.seconds,
        "started_at": attempt.started_at,
        "message": attempt.message,
        "fingerprint": attempt.fingerprint,
        "signature": classified.signature,
        "blame": classified.blame,
        "source": attempt.source.value,
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(SAME | st.lists(CLASSIFIED, max_size=4), max_size=4))
def test_a_table_of_attempts_holds_each_attempt_in_order(
    make: SimpleNamespace, jobs: list[list[ClassifiedAttempt]]
) -> None:
    records = [
        (100 + at, make.record(make.build(), make.job(f"job-{at}"), *attempts)) for at, attempts in enumerate(jobs)
    ]
    table = table_of("attempts", records)
    assert table.schema.names == list(TABLES["attempts"])
    found = table.to_pylist()
    assert found == [
        row(ingest, record.job.id, ordinal, each)
        for ingest, record in records
        for ordinal, each in enumerate(record.attempts)
    ]
    signs = [math.copysign(1, one["seconds"]) for one in found if one["seconds"] is not None]
    assert signs == [
        math.copysign(1, each.attempt.seconds)
        for attempts in jobs
        for each in attempts
        if each.attempt.seconds is not None
    ]


def test_text_that_no_column_can_hold_is_mended_where_all_rows_have_it(make: SimpleNamespace) -> None:
    attempts = [make.attempt("t\ud800", worker="w\ud800", pid=2**70)] * 3
    record = make.record(make.build(key="\ud800"), make.job(), *attempts)
    rows = table_of("attempts", [(1, record)]).to_pylist()
    assert [(one["build"], one["name"], one["worker"], one["pid"]) for one in rows] == [("?", "t?", "w?", None)] * 3
