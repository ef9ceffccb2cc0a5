"""One file of an earlier export, wherever that lies: a folder, a bucket, or any web server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from flake_report.errors import FlakeReportError

from .answer import Answer
from .buildurl import is_url
from .clock import Clock
from .storage import MissingError, open_storage
from .transport import Patience, Transport

PATIENCE = Patience(tries=3, connect=10.0, read=60.0)
"""A report can do without what it is compared with: nobody waits long for it."""


def exported(address: str, name: str, clock: Clock | None = None) -> tuple[str, bytes]:
    """The file's whole name, and its bytes. `address` is the export's folder or URL, or that of the file itself.

    Over HTTP no token is sent; what follows a `?`, such as a signature, is kept. Raises `FlakeReportError` where there
    is no such file.
    """
    if is_url(address):
        return _fetched(address, name, clock or Clock())
    if address.rsplit("/", 1)[-1] == name:
        address = address.rpartition("/")[0] if "://" in address else str(Path(address).parent)
    storage = open_storage(address)
    try:
        return storage.place(name), b"".join(storage.read(name))
    except MissingError as error:
        raise FlakeReportError(
            f"{storage.place(name)}: there is no such file; a baseline is a folder that flake-report export wrote"
        ) from error


def _fetched(address: str, name: str, clock: Clock) -> tuple[str, bytes]:
    parts = urlsplit(address)
    path = parts.path if parts.path.endswith(f"/{name}") else f"{parts.path.rstrip('/')}/{name}"
    with Transport(clock, PATIENCE) as transport:
        answer = transport.fetch(urlunsplit(parts._replace(path=path, fragment="")), _whole)
        return answer.place, b"".join(answer.body.chunks())


def _whole(answer: Answer) -> Answer:
    return answer
