"""Attempts made fast are what the constructors would make."""

from __future__ import annotations

from datetime import UTC, datetime

from flake_report.model.results import Attempt, DeviceMemory, Holder, Outcome, Phase, ResultSource, TestId
from flake_report.parse.records import Alike, keyed

ATTEMPT = Attempt(
    TestId("m", "t", "gw1"),
    Outcome.FAILED,
    number=2,
    known=False,
    phase=Phase.CALL,
    seconds=1.5,
    started_at=datetime(2026, 4, 15, tzinfo=UTC),
    message="boom",
    text="E boom",
    file="m.py",
    session="s",
    session_key="k",
    worker="gw1",
    pid=7,
    position=3,
    source=ResultSource.ATTEMPTS,
    fingerprint="0123456789abcdef",
    memory=(DeviceMemory("cuda:0", free_before=1),),
    holders=(Holder(1, "python", None),),
)


def test_another_session_key_leaves_the_other_fields_and_the_attempt_itself() -> None:
    before = repr(ATTEMPT)
    made = keyed(ATTEMPT, "other")
    assert (made, type(made), repr(ATTEMPT)) == (ATTEMPT._replace(session_key="other"), Attempt, before)
    assert made.session_key == "other"


def test_rows_make_what_the_constructor_makes() -> None:
    started = datetime(2026, 4, 15, tzinfo=UTC)
    same = {"known": False, "started_at": started, "session": "1"}
    one = Attempt(TestId("", "", "chromium"), Outcome.PASSED, **same)
    made = list(Alike(one).rows(["m", "m"], ["a", "b"], [0.5, None], ["m.py", ""]))
    assert made == [
        Attempt(TestId("m", "a", "chromium"), Outcome.PASSED, seconds=0.5, file="m.py", **same),
        Attempt(TestId("m", "b", "chromium"), Outcome.PASSED, **same),
    ]
    assert [(type(each), type(each.test)) for each in made] == [(Attempt, TestId)] * 2


def test_rows_take_every_other_field_from_the_one_that_they_are_like() -> None:
    (made,) = Alike(ATTEMPT).rows(["m"], ["t"], [1.5], ["m.py"])
    assert made == ATTEMPT
