"""How long to wait, from what Buildkite's answers say; the clock stands still unless a test moves it."""

from __future__ import annotations

import json
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collect.server.clock import FakeTime
from collect.server.meter import Meter
from flake_report.collect.answer import Answer, Body
from flake_report.collect.limits import RateLimits, asked_to_wait


def answer(status: int = 429, body: object = None, **headers: str) -> Answer:
    data = Body(max_size=1000)
    data.write(json.dumps(body).encode() if body is not None else b"")
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, data, "http://x/")


def headers(remaining: int, limit: int = 50, reset: int = 30, prefix: str = "RateLimit-User-") -> dict[str, str]:
    return {f"{prefix}Remaining": str(remaining), f"{prefix}Limit": str(limit), f"{prefix}Reset": str(reset)}


def test_before_the_first_answer_one_request_goes_alone(time: FakeTime) -> None:
    limits = RateLimits(time.clock)
    assert limits.claim() == 0
    went = threading.Event()
    second = threading.Thread(target=lambda: (limits.claim(), went.set()))
    second.start()
    assert not went.wait(0.05)
    limits.answered({})
    assert went.wait(5)
    second.join()


@pytest.mark.parametrize("lost", [None, {}], ids=["a first request that is lost", "an answer without headers"])
def test_limits_that_nobody_tells_do_not_hold_anybody(time: FakeTime, lost: dict | None) -> None:
    limits = RateLimits(time.clock)
    assert limits.claim() == 0
    limits.answered(lost)
    assert limits.claim() == 0


@pytest.mark.parametrize("prefix", ["RateLimit-User-", "RateLimit-"])
def test_what_is_left_goes_and_then_the_minute_is_waited_for(time: FakeTime, prefix: str) -> None:
    limits = RateLimits(time.clock)
    limits.claim()
    limits.answered(headers(remaining=2, reset=30, prefix=prefix))
    assert [limits.claim(), limits.claim(), limits.claim()] == [0, 0, 30]
    time.at += 30
    assert limits.claim() == 0


def test_the_tighter_of_the_two_limits_counts(time: FakeTime) -> None:
    limits = RateLimits(time.clock)
    limits.claim()
    limits.answered({**headers(remaining=40, reset=10), **headers(0, 200, 25, "RateLimit-")})
    assert limits.claim() == 25


def test_an_answer_that_was_overtaken_gives_nothing_back(time: FakeTime) -> None:
    limits = RateLimits(time.clock)
    for _ in range(2):
        limits.claim()
        limits.answered(headers(remaining=1))
    limits.claim()
    limits.answered(headers(remaining=9))
    assert limits.claim() == 0
    assert limits.claim() == 30


def test_a_budget_leaves_the_rest_to_others(time: FakeTime) -> None:
    limits = RateLimits(time.clock, budget=0.8)
    limits.claim()
    limits.answered(headers(remaining=11, limit=50))
    assert limits.claim() == 0
    limits.answered(headers(remaining=10, limit=50))
    assert limits.claim() == 30


@pytest.mark.parametrize("limit", ["0", "1", "x", ""])
def test_a_limit_that_is_odd_never_holds_for_ever(time: FakeTime, limit: str) -> None:
    limits = RateLimits(time.clock, budget=0.01)
    limits.claim()
    limits.answered({"RateLimit-Remaining": "0", "RateLimit-Reset": "17", "RateLimit-Limit": limit})
    assert limits.claim() == 17
    time.at += 17
    assert limits.claim() == 0


@pytest.mark.parametrize(
    ("refusal", "seconds"),
    [
        (answer(Retry_After="7"), 7),
        (answer(Retry_After="86400"), 900),
        (answer(body={"reset": 1e12}), 900),
        (answer(Retry_After="Fri, 20 Nov 2026 12:00:09 GMT", Date="Fri, 20 Nov 2026 12:00:00 GMT"), 9),
        (answer(Retry_After="Fri, 20 Nov 2026 11:00:00 GMT", Date="Fri, 20 Nov 2026 12:00:00 GMT"), 0),
        (answer(body={"scope": "rest_user", "limit": 50, "current": 55, "reset": 42}), 42),
        (answer(body={"scope": "rest"}, RateLimit_Reset="13", RateLimit_User_Reset="40"), 13),
        (answer(body={"scope": "rest_user"}, RateLimit_Reset="13", RateLimit_User_Reset="40"), 40),
        (
            answer(
                RateLimit_Remaining="0", RateLimit_Reset="13", RateLimit_User_Remaining="5", RateLimit_User_Reset="40"
            ),
            13,
        ),
        (answer(RateLimit_Reset="13"), 13),
        (answer(), 60),
        (answer(body={"reset": "soon"}), 60),
        (answer(body=[1]), 60),
        (answer(Retry_After="soon"), 60),
    ],
)
def test_a_refusal_says_how_long_in_one_of_many_ways(time: FakeTime, refusal: Answer, seconds: int) -> None:
    limits = RateLimits(time.clock)
    limits.claim()
    limits.answered({})
    assert limits.refused(refusal) == seconds + 0.5  # half of the one second that chance may add
    assert limits.claim() == seconds + 0.5


def test_retry_after_of_another_kind_is_no_time() -> None:
    assert asked_to_wait({"Retry-After": "Fri, 20 Nov 2026 12:00:09 GMT"}) is None
    assert asked_to_wait({}) is None


@settings(deadline=None)  # a busy machine is no bug
@given(
    user=st.integers(1, 60),
    org=st.integers(1, 60),
    others=st.integers(0, 59),
    budget=st.sampled_from([0.1, 0.5, 0.8, 1.0]),
    user_headers=st.booleans(),
)
def test_whoever_obeys_is_never_refused_and_keeps_to_the_budget(
    *, user: int, org: int, others: int, budget: float, user_headers: bool
) -> None:
    """A server that counts by the minute, with other users of the same organization."""
    time = FakeTime()
    others = min(others, org - 1)
    user = user if user_headers else 10**6
    meter = Meter(lambda: time.at, user=user, org=org, others=others)
    meter.user_headers = user_headers
    limits = RateLimits(time.clock, budget)
    began = time.at
    for _ in range(100):
        while wait := limits.claim():
            time.at += wait
        assert meter.count() is None
        limits.answered(meter.headers())
    minutes = (time.at - began) / 60
    allowed = min(user, org - others)
    assert meter.most <= allowed
    assert meter.most <= max(budget * user, 1) + 1
    assert minutes <= 100 / max(min(budget * user, budget * org - others) - 1, 1) + 2
