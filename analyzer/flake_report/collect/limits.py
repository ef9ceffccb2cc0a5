"""Buildkite's two rate limits, of the user and of the organization: how long to wait before the next request.

Headers and the body of a 429 as documented at buildkite.com/docs/apis/rest-api/rate-limits. Older servers and
proxies send the organization's headers alone, or none.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from .answer import Answer
from .clock import Clock

_FAMILIES = {"rest": "RateLimit-", "rest_user": "RateLimit-User-"}
_WINDOW = 60.0  # seconds: both limits are by the minute
_TICK = 0.001  # seconds that are not worth a wait: below them clocks and floats may stand still
_LONGEST = 900.0  # seconds: whoever asks for more is asked again before
_SLACK = 1.5  # seconds by which two answers may differ on when one window ends: resets are whole seconds


@dataclass(slots=True)
class _Window:
    """One limit in its current minute; `remaining` as of the newest answer. A limit of 0 is one that was not told."""

    limit: int
    remaining: int
    ends_at: float


class RateLimits:
    """What may still be asked in this minute, from what the answers say; any number of threads may use one.

    `budget` is the share of each limit that may be used up, by whomever: at 0.8 requests stop while a fifth of the
    minute's is left to others.
    """

    def __init__(self, clock: Clock, budget: float = 1.0) -> None:
        self._clock = clock
        self._kept = 1.0 - budget
        self._windows: dict[str, _Window] = {}
        self._blocked_until = -math.inf
        self._in_flight = 0
        self._answered = False
        self._changed = threading.Condition()

    def claim(self) -> float:
        """0 where one more request may go now, which then counts as under way; else how long to wait and ask again.

        Before the first answer one request goes alone, to learn what is left.
        """
        with self._changed:
            while not self._answered and self._in_flight:
                self._changed.wait()
            now = self._clock.now()
            wait = max([self._blocked_until - now, *(self._wait(scope, now) for scope in list(self._windows))])
            if wait > _TICK:
                return wait
            self._in_flight += 1
            return 0.0

    def answered(self, headers: Mapping[str, str] | None) -> None:
        """A request came back with these headers; None where it ended without an answer."""
        with self._changed:
            if headers is not None:
                self._answered = True
                for scope, prefix in _FAMILIES.items():
                    self._learn(scope, prefix, headers)
            self._in_flight -= 1
            self._changed.notify_all()

    def refused(self, answer: Answer) -> float:
        """A request came back as 429: nothing goes before the time that it names; returns the seconds until then."""
        wait = asked_to_wait(answer.headers)
        if wait is None:
            wait = _reset_of(answer)
        wait += self._clock.chance()  # so that several collectors do not come back at once
        with self._changed:
            self._blocked_until = max(self._blocked_until, self._clock.now() + wait)
        return wait

    def _wait(self, scope: str, now: float) -> float:
        window = self._windows[scope]
        if now >= window.ends_at:
            if not window.limit:
                del self._windows[scope]
                return 0.0
            window.remaining, window.ends_at = window.limit, now + _WINDOW
        kept = min(round(self._kept * window.limit), max(window.limit - 1, 0))  # one request a minute always goes
        return window.ends_at - now if window.remaining - self._in_flight <= kept else 0.0

    def _learn(self, scope: str, prefix: str, headers: Mapping[str, str]) -> None:
        remaining, reset = _number(headers, f"{prefix}Remaining"), _number(headers, f"{prefix}Reset")
        if remaining is None or reset is None:
            return
        limit = _number(headers, f"{prefix}Limit") or 0
        ends_at = self._clock.now() + reset
        known = self._windows.get(scope)
        if known and ends_at <= known.ends_at + _SLACK:
            remaining = min(remaining, known.remaining)  # answers overtake each other
            ends_at = max(ends_at, known.ends_at)
        self._windows[scope] = _Window(limit, remaining, ends_at)


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of a `Retry-After`, also where it is a date, which is held against the answer's own `Date`."""
    said = headers.get("Retry-After", "").strip()
    if said.isdecimal() and said.isascii():
        return min(float(said), _LONGEST)
    try:
        wait = parsedate_to_datetime(said) - parsedate_to_datetime(headers.get("Date", ""))
    except (TypeError, ValueError):
        return None
    return min(max(wait.total_seconds(), 0.0), _LONGEST)


def _reset_of(answer: Answer) -> float:
    """When the limit that was met ends, by the body, else by the headers, else a whole minute."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    headers, said = answer.headers, body if isinstance(body, Mapping) else {}
    reset = said.get("reset")
    if isinstance(reset, int | float) and not isinstance(reset, bool) and reset >= 0:
        return min(float(reset), _LONGEST)
    prefixes = [prefix for scope, prefix in _FAMILIES.items() if said.get("scope") in (scope, None)]
    resets = [
        reset
        for prefix in prefixes
        if (reset := _number(headers, f"{prefix}Reset")) is not None and not _number(headers, f"{prefix}Remaining")
    ]
    return min(float(max(resets, default=_WINDOW)), _LONGEST)


def _number(headers: Mapping[str, str], name: str) -> int | None:
    said = headers.get(name, "").strip()
    return int(said) if said.isdecimal() and said.isascii() else None
