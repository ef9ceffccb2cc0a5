"""Why a request failed, in words for people; an exception's own text would name signed URLs and object addresses."""

from __future__ import annotations

from dataclasses import dataclass

from requests import exceptions as of_requests
from urllib3 import exceptions as of_urllib3


@dataclass(frozen=True, slots=True)
class Trouble:
    """One failed try. `wait` is how long the server asked to wait, `limited` a 429, `final` what never mends itself."""

    words: str
    wait: float | None = None
    limited: bool = False
    final: bool = False


_FINAL: dict[type[Exception], str] = {
    of_requests.SSLError: "the server's certificate is not trusted, or it speaks no TLS",
    of_requests.TooManyRedirects: "it redirects without end",
    ValueError: "that is no URL that can be asked",  # requests' errors about URLs, and no others
}
_PASSING: dict[type[Exception], str] = {
    of_requests.ConnectTimeout: "no connection within {connect:g} seconds",
    of_requests.ReadTimeout: "no answer within {read:g} seconds",
    of_urllib3.ReadTimeoutError: "no answer within {read:g} seconds",
    of_requests.ProxyError: "the proxy does not answer",
    of_urllib3.ProtocolError: "the answer broke off",
    of_urllib3.DecodeError: "the answer is damaged",
}
"""The first class that an error belongs to says what it is."""


def trouble_of(error: Exception, *, connect: float, read: float) -> Trouble:
    """What a requests, urllib3 or operating system error means; the two time-outs in seconds are for the words."""
    for words, final in [*((row, True) for row in _FINAL.items()), *((row, False) for row in _PASSING.items())]:
        if isinstance(error, words[0]):
            return Trouble(words[1].format(connect=connect, read=read), final=final)
    causes = _causes(error)
    if any(isinstance(cause, of_urllib3.NameResolutionError) for cause in causes):
        return Trouble("the host's name cannot be resolved")
    said = next((cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror), None)
    return Trouble(f"the connection failed ({said})" if said else "the connection failed")


def _causes(error: BaseException) -> list[BaseException]:
    """An error and all that lies below it: urllib3 hides the cause in arguments and in `reason`."""
    found: list[BaseException] = []
    left: list[object] = [error]
    while left:
        one = left.pop()
        if isinstance(one, BaseException) and one not in found:
            found.append(one)
            left += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
    return found
