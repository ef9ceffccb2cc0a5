"""One GET over HTTP: a whole answer, asked for again while that can help; redirects never carry the token along."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar
from urllib.parse import urljoin

import requests
import urllib3
from requests.auth import AuthBase

from flake_report import __version__
from flake_report.errors import FlakeReportError

from .answer import Answer, Origin, origin, read_body, shown
from .clock import Clock
from .limits import RateLimits, asked_to_wait
from .token import Anonymous
from .trouble import Trouble, trouble_of

_Read = TypeVar("_Read")

_AGENT = f"flake-report/{__version__}"
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_MOST_429 = 60  # each is waited for as long as the server says: an hour or so, then something is wrong
_SLICE = 1.0  # seconds: a wait is cut into these, so that ^C ends it


class StoppedError(Exception):
    """The work was called off while a request waited; whoever called it off catches this."""


class RefusedError(FlakeReportError):
    """The server answered with a status that asking again does not change; `said` is its own message."""

    def __init__(self, status: int, place: str, said: str) -> None:
        self.status, self.said = status, said
        super().__init__(f"{place}: HTTP {status}{f' ({said})' if said else ''}; check the URL and the access to it")


class UnreachableError(FlakeReportError):
    """No whole answer came, however often it was asked for."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often one request is made, and the seconds that it waits for a connection, for bytes, and between tries."""

    tries: int = 6
    connect: float = 10.0
    read: float = 60.0
    first_pause: float = 0.5
    longest_pause: float = 30.0


class Transport:
    """GET requests of any number of threads, each with its own connections."""

    def __init__(self, clock: Clock, patience: Patience | None = None, limits: RateLimits | None = None) -> None:
        self._clock = clock
        self._patience = patience or Patience()
        self._limits = limits
        self._own = threading.local()
        self._sessions: list[requests.Session] = []
        self._lock = threading.Lock()
        self._ways: dict[Origin, Mapping[str, Any]] = {}
        self._halt = threading.Event()
        self.on_wait: Callable[[float], None] = _nobody_is_told
        """Hears of each wait for the rate limits, in seconds, as it begins."""
        self.requests = 0
        """How many went out that count against the rate limits."""

    def fetch(
        self,
        url: str,
        read: Callable[[Answer], _Read],
        *,
        auth: AuthBase | None = None,
        headers: Mapping[str, str] | None = None,
        decode: bool = True,
    ) -> _Read:
        """What `read` makes of the answer; it raises ValueError for a damaged one, which is then asked for again.

        A request with `auth` counts against the rate limits. `decode` undoes the transport's own compression. Raises
        `RefusedError` for a status from 400 that stays, `UnreachableError` where no whole answer comes.
        """
        tries = refusals = 0
        while True:
            trouble = self._try(url, auth, headers or {}, decode=decode)
            if isinstance(trouble, Answer):
                try:
                    return read(trouble)
                except ValueError as error:
                    trouble = Trouble(f"the answer is damaged ({error})")
            refusals, tries = refusals + trouble.limited, tries + (not trouble.limited)
            if trouble.final or tries >= self._patience.tries or refusals >= _MOST_429:
                often = "" if trouble.final else f", {tries + refusals} times"
                raise UnreachableError(f"{shown(url)}: {trouble.words}{often}; check it and run the command again")
            self._pause(self._jitter(tries) if trouble.wait is None else trouble.wait)

    def stop(self) -> None:
        """Call the work off: what waits, and what would go from now on, raises `StoppedError`."""
        self._halt.set()

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for session in self._sessions:
                session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _pause(self, seconds: float) -> None:
        while seconds > 0 and not self._halt.is_set():
            self._clock.sleep(min(seconds, _SLICE))
            seconds -= _SLICE

    def _jitter(self, tries: int) -> float:
        """Anything up to a bound that doubles: clients that failed together must not come back together."""
        bound = min(self._patience.first_pause * 2.0 ** max(tries - 1, 0), self._patience.longest_pause)
        return bound * self._clock.chance()

    def _try(self, url: str, auth: AuthBase | None, headers: Mapping[str, str], *, decode: bool) -> Answer | Trouble:
        limits = self._limits if auth else None
        self._wait_for_turn(limits)
        with self._lock:
            self.requests += auth is not None
        try:
            answer = self._follow(url, auth or Anonymous(), headers, limits, decode=decode)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            return trouble_of(error, connect=self._patience.connect, read=self._patience.read)
        if answer.status == 429:
            wait = (limits or RateLimits(self._clock)).refused(answer)
            return Trouble("too many requests (HTTP 429)", wait=wait, limited=True)
        if answer.status >= 500 or answer.status == 408:
            return Trouble(f"the server failed (HTTP {answer.status})", wait=asked_to_wait(answer.headers))
        if answer.status >= 400 and origin(answer.url) != origin(url) and answer.status not in (404, 410):
            return Trouble(f"the storage refused (HTTP {answer.status})")  # its signed URLs live for a minute
        if answer.status >= 400:
            raise RefusedError(answer.status, answer.place, answer.message())
        return answer

    def _wait_for_turn(self, limits: RateLimits | None) -> None:
        """Returns when a request may go, and must: from then on it counts as under way, and others wait for it."""
        while not self._halt.is_set():
            wait = limits.claim() if limits else 0.0
            if not wait:
                return
            self.on_wait(wait)
            self._pause(wait)
        raise StoppedError

    def _follow(
        self, url: str, auth: AuthBase, headers: Mapping[str, str], limits: RateLimits | None, *, decode: bool
    ) -> Answer:
        """The answer behind any redirects; another origin gets no token."""
        home = origin(url)
        for _ in range(_MOST_REDIRECTS):
            answer = self._once(url, auth, headers, limits, decode=decode)
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or not target:
                return answer
            url, limits = urljoin(url, target), None
            if origin(url) != home:
                auth = Anonymous()
        raise requests.TooManyRedirects

    def _once(
        self, url: str, auth: AuthBase, headers: Mapping[str, str], limits: RateLimits | None, *, decode: bool
    ) -> Answer:
        told: Mapping[str, str] | None = None
        try:
            response = self._session().get(
                url,
                auth=auth,
                headers={"User-Agent": _AGENT, **headers},
                timeout=(self._patience.connect, self._patience.read),
                allow_redirects=False,
                **self._way(url),
            )
            told = response.headers
        finally:
            if limits:
                limits.answered(told)
        with response:
            return Answer(response.status_code, response.headers, read_body(response, decode=decode), url)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = self._own.session = requests.Session()
            session.trust_env = False
            with self._lock:
                self._sessions.append(session)
        return session

    def _way(self, url: str) -> Mapping[str, Any]:
        """Proxies and certificates as the environment says: asked once, for it costs more than a request."""
        home = origin(url)
        if home not in self._ways:
            with requests.Session() as asker:
                self._ways[home] = asker.merge_environment_settings(url, {}, None, None, None)
        return {**self._ways[home], "stream": True}


def _nobody_is_told(_seconds: float) -> None:
    """Where nobody looks on."""
