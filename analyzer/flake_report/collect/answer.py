"""A whole HTTP answer, its body held in memory or on the disk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import requests

_KEPT_IN_MEMORY = 1 << 24  # a body larger than 16 MiB moves to the disk
_CHUNK = 1 << 16
_SHOWN = 200  # characters of a server's message that are shown


class DamagedError(ValueError):
    """An answer that is not what its kind of request gives: cut short, or a page of something in between."""


class Body(SpooledTemporaryFile[bytes]):
    """Bytes of an answer; closed with the last reference to it."""

    def __del__(self) -> None:
        self.close()

    def chunks(self) -> Iterator[bytes]:
        """All of it from the start; readers that take turns do not disturb each other."""
        at = 0
        while True:
            self.seek(at)
            chunk = self.read(_CHUNK)
            if not chunk:
                return
            at += len(chunk)
            yield chunk


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; `url` is where it came from after redirects."""

    status: int
    headers: Mapping[str, str]
    body: Body
    url: str

    @property
    def place(self) -> str:
        """The URL for people."""
        return shown(self.url)

    def json(self) -> Any:
        """The body as JSON; ValueError where it is none."""
        try:
            return json.loads(b"".join(self.body.chunks()))
        except RecursionError as error:
            raise DamagedError("nested too deeply") from error

    def message(self) -> str:
        """What the server says of itself: the `message` of a JSON object, shortened; empty where there is none."""
        try:
            said = self.json()
        except ValueError:
            return ""
        text = said.get("message") if isinstance(said, dict) else None
        return " ".join(text.split())[:_SHOWN] if isinstance(text, str) else ""


def shown(url: str) -> str:
    """A URL without what stands after `?`, which may be a signature that opens the file to anybody."""
    return url.partition("?")[0]


Origin: TypeAlias = tuple[str, str | None, int | None]


def origin(url: str) -> Origin:
    """Scheme, host and port: what must be the same for a token to go there."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def read_body(response: requests.Response, *, decode: bool) -> Body:
    """All of a streamed response's body; one of urllib3's errors where it is shorter than announced."""
    body = Body(max_size=_KEPT_IN_MEMORY)
    for chunk in response.raw.stream(_CHUNK, decode_content=decode):
        body.write(chunk)
    return body
