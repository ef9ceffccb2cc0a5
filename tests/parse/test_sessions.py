"""A session that recorder and log both tell of is one session; each case is worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flake_report.model.joblog import JobLog, Session
from flake_report.model.results import Attempt, Outcome, ResultSource, TestId
from flake_report.parse.precedence import best_source
from flake_report.parse.sessionkey import session_key
from flake_report.parse.sessions import ReportFile

PASSED, FAILED, CRASHED = Outcome.PASSED, Outcome.FAILED, Outcome.CRASHED
Row = tuple[str, str, Outcome]


def recorded(start: str, command: str, **outcomes: Outcome) -> ReportFile:
    """The attempts file of a session."""
    return ReportFile(
        f"attempts-j-{start}.jsonl",
        [
            Attempt(
                TestId("v1.x", name),
                outcome,
                session=start,
                session_key=session_key(command),
                source=ResultSource.ATTEMPTS,
            )
            for name, outcome in outcomes.items()
        ],
    )


def logged(*sessions: tuple[str, dict[str, Outcome]], passed: int = 0, runner: str = "pytest") -> JobLog:
    """A log of sessions, each with its command and the outcomes that it shows."""
    return JobLog(
        lines=1,
        sessions=tuple(
            Session(runner, 2 * place, 2 * place + 1, command=command, key=session_key(command), passed=passed)
            for place, (command, _) in enumerate(sessions)
        ),
        attempts=tuple(
            Attempt(
                TestId("v1.x", name),
                outcome,
                message="E boom" if outcome.bad else "",
                session=str(order),
                session_key=session_key(command),
                source=ResultSource.LOG,
            )
            for order, (command, outcomes) in enumerate(sessions, 1)
            for name, outcome in outcomes.items()
        ),
    )


def rows(kept: Sequence[Attempt]) -> list[Row]:
    return sorted((one.session_key, one.test.name, one.outcome) for one in kept)


@pytest.mark.parametrize(
    ("shown", "key"),
    [
        ("", "pytest -v v1/a.py v1/b.py"),
        ("python3 -u -m pytest -v v1/a.py v1/b.py", "pytest -v v1/a.py v1/b.py"),
        ("pytest -v $TESTS", "pytest -v $TESTS"),
        ("pytest -v v1/*.py", "pytest -v v1/*.py"),
        ("pytest -v v1/*.py 2>&1 | tee out.log", "pytest -v v1/*.py"),
    ],
)
def test_a_session_is_told_once_whatever_the_log_shows_of_its_command(shown: str, key: str) -> None:
    files = [recorded("t1", "pytest -v v1/a.py v1/b.py", a=PASSED, b=FAILED)]
    kept = best_source(files, logged((shown, {"a": PASSED, "b": FAILED})))
    assert rows(kept) == [(key, "a", PASSED), (key, "b", FAILED)]
    assert {one.source for one in kept} == {ResultSource.ATTEMPTS}
    assert [one.message for one in kept] == ["", "E boom"]


def test_a_quiet_log_of_a_passing_session_gives_the_same_key_as_of_a_failing_one() -> None:
    quiet = logged(("pytest $TESTS", {}), passed=2)
    failing = logged(("pytest $TESTS", {"b": FAILED}))
    green = best_source([recorded("t1", "pytest a.py", a=PASSED, b=PASSED)], quiet)
    red = best_source([recorded("t1", "pytest a.py", a=PASSED, b=FAILED)], failing)
    assert {one.session_key for one in [*green, *red]} == {"pytest $TESTS"}


def test_two_recorded_sessions_of_the_same_tests_take_the_logs_sessions_in_order() -> None:
    files = [recorded("t2", "pytest a.py", a=FAILED), recorded("t1", "pytest a.py", a=PASSED)]
    kept = best_source(files, logged(("pytest $ONE", {"a": PASSED}), ("pytest $TWO", {"a": FAILED})))
    assert rows(kept) == [("pytest $ONE", "a", PASSED), ("pytest $TWO", "a", FAILED)]


def test_a_session_that_no_recorder_saw_keeps_the_logs_attempts() -> None:
    files = [recorded("t1", "pytest a.py", a=PASSED)]
    kept = best_source(files, logged(("pytest $ONE", {"a": FAILED}), ("pytest $TWO", {"a": PASSED})))
    assert rows(kept) == [("pytest $ONE", "a", FAILED), ("pytest $TWO", "a", PASSED)]
    assert [one.source.value for one in kept] == ["attempts", "log"]


def test_sessions_that_share_no_test_are_two() -> None:
    kept = best_source([recorded("t1", "pytest a.py", a=PASSED)], logged(("", {"b": PASSED})))
    assert rows(kept) == [("", "b", PASSED), ("pytest a.py", "a", PASSED)]


def test_an_unseen_session_of_the_same_command_that_ended_otherwise_loses_nothing() -> None:
    kept = best_source([recorded("t1", "pytest a.py", a=PASSED)], logged(("pytest a.py", {"a": FAILED})))
    assert rows(kept) == [("pytest a.py", "a", FAILED), ("pytest a.py #2", "a", PASSED)]


def test_the_test_in_which_the_recorder_died_is_kept_from_the_log() -> None:
    files = [recorded("t1", "pytest a.py", a=PASSED)]
    kept = best_source(files, logged(("pytest $TESTS", {"a": PASSED, "b": CRASHED})))
    assert rows(kept) == [("pytest $TESTS", "a", PASSED), ("pytest $TESTS", "b", CRASHED)]


def test_an_attempts_file_that_was_uploaded_twice_counts_once() -> None:
    file = recorded("t1", "pytest a.py", a=PASSED)
    cut = ReportFile("copy/attempts.jsonl", [])
    assert rows(best_source([cut, file, file._replace(name="again.jsonl")], JobLog(lines=0))) == [
        ("pytest a.py", "a", PASSED)
    ]


def test_two_sessions_without_a_shown_command_are_no_retry_of_each_other() -> None:
    kept = best_source([], logged(("", {"a": PASSED, "b": PASSED}), ("", {"a": FAILED})))
    assert rows(kept) == [("", "a", PASSED), ("", "b", PASSED), ("#2", "a", FAILED)]


def test_further_sessions_of_other_runners_are_reruns() -> None:
    kept = best_source([], logged(("", {"a": FAILED}), ("", {"a": PASSED}), runner="go test"))
    assert rows(kept) == [("", "a", FAILED), ("", "a", PASSED)]


def test_the_recorders_own_report_goes_with_its_attempts_file() -> None:
    files = [
        recorded("20261130T100000.0Z-7", "pytest a.py", a=PASSED),
        recorded("20261130T110000.0Z-77", "pytest b.py", a=FAILED),
        ReportFile("junit-j-20261130T110000.0Z-77.xml", [Attempt(TestId("v1.x", "a"), FAILED, text="why")]),
    ]
    kept = best_source(files, JobLog(lines=0))
    assert rows(kept) == [("pytest a.py", "a", PASSED), ("pytest b.py", "a", FAILED)]
    assert [one.text for one in kept] == ["", "why"]
