"""Attempts made fast are what the constructors would make."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime

import pytest

from flake_report.model.results import Attempt, DeviceMemory, Holder, Outcome, Phase, ResultSource, TestId
from flake_report.parse.records import changed, give_passes

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


@pytest.mark.parametrize("name", [one.name for one in fields(Attempt)])
def test_a_change_of_one_field_leaves_the_others_and_the_attempt_itself(name: str) -> None:
    before = repr(ATTEMPT)
    made = changed(ATTEMPT, **{name: None})
    assert (made, type(made), repr(ATTEMPT)) == (replace(ATTEMPT, **{name: None}), Attempt, before)


def test_a_changed_attempt_is_frozen_like_any_other() -> None:
    made = changed(ATTEMPT, session_key="other")
    with pytest.raises(FrozenInstanceError):
        made.session_key = "a third"  # type: ignore[misc]


def test_a_field_that_no_attempt_has_is_refused() -> None:
    with pytest.raises(AttributeError):
        changed(ATTEMPT, sesion_key="k")


def test_a_row_of_passes_makes_what_the_constructor_makes() -> None:
    given: list[Attempt] = []
    started = datetime(2026, 4, 15, tzinfo=UTC)
    give_passes(given.append, "chromium", (False, started, "1"), [("m", "a", 0.5, "m.py"), ("m", "b", None, "")])
    same = {"known": False, "started_at": started, "session": "1"}
    assert given == [
        Attempt(TestId("m", "a", "chromium"), Outcome.PASSED, seconds=0.5, file="m.py", **same),
        Attempt(TestId("m", "b", "chromium"), Outcome.PASSED, **same),
    ]
