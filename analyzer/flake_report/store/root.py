"""Where a store lies: a folder of this machine, or a folder in a bucket; the rest of the code does not know which.

Delta opens both by their address. What it leaves to its user goes through here: writing a data file, taking back one
that no commit will name, and looking at the log where the answer to a commit was lost.

Buckets are written through `obstore`, the library below `deltalake`: both understand the same environment (AWS_…,
GOOGLE_…, AZURE_…), and an object appears whole or not at all. Two writers cannot commit one version in a bucket, as
Delta asks the server to write a log entry only where there is none (`If-None-Match: *`): Amazon's S3, Google's and
Azure's stores honour that, and a server that does not is no place for a store.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import IOBase
from pathlib import Path
from typing import NamedTuple, Protocol

from flake_report.errors import FlakeReportError


class Written(NamedTuple):
    """What Delta's log says of a file: its size in bytes, and when it was written, in milliseconds of Unix time."""

    size: int
    at: int


class Root(Protocol):
    """Where a store lies. Paths are relative, with `/`; trouble raises `OSError`."""

    address: str
    """As Delta opens it; `str` gives what a person would call it."""

    if_unmade: str
    if_unreadable: str
    """What to do then, in a few words."""

    def exists(self) -> bool:
        """Whether there is such a folder; in a bucket every folder is there."""

    def occupied(self) -> bool:
        """Whether something lies here that is no part of a table that somebody began to make."""

    def make(self) -> None:
        """See to it that the folder is there."""

    def file(self, path: str) -> str:
        """How an engine calls one of the files."""

    def write(self, path: str, fill: Callable[[IOBase], object]) -> Written:
        """A file whose bytes `fill` writes."""

    def remove(self, path: str) -> None:
        """Take a file away; it is fine where there is none."""

    def size(self, path: str) -> int | None:
        """Bytes of a file; None where there is none."""

    def text(self, path: str) -> str | None:
        """A small text file; None where there is none."""


def located(path: str) -> Root:
    """The place that a user named. Raises `FlakeReportError` for one that can be none, before anybody is asked."""
    if "://" not in path:
        return Folder(path)
    if not _URL.fullmatch(path):
        raise FlakeReportError(
            f"store {path}: is no address of a store; name a folder, or s3://BUCKET/FOLDER (gs, az alike)"
        )
    from .bucket import Bucket  # noqa: PLC0415  # obstore takes its time, and only addresses need it

    return Bucket(path.rstrip("/"))


_URL = re.compile(r"(?:s3|gs|az)://\w[\w.-]*(?:/[\w.=+,@ -]+)*/?", re.ASCII)
"""No user, no port, no query: credentials come from the environment."""


class Folder:
    """A folder of this machine."""

    if_unmade = "name another path"
    if_unreadable = "restore it, or ingest into a new one"

    def __init__(self, path: str) -> None:
        self.path = Path(path).resolve()
        self.address = str(self.path)
        if re.search("%[0-9A-Fa-f]{2}", self.address):  # Delta reads it as an escape, and would open another folder
            raise FlakeReportError(f"store {self}: a store's path cannot hold `%` before two digits; name another path")
        if "\\" in self.address:  # Delta takes it for `/`, and would write into one folder and read another
            raise FlakeReportError(f"store {self}: a store's path cannot hold a backslash; name another path")

    def __str__(self) -> str:
        return self.address

    def exists(self) -> bool:
        if self.path.exists() and not self.path.is_dir():
            raise FlakeReportError(f"store {self}: is a file, and a store is a folder; name another path")
        return self.path.exists()

    def occupied(self) -> bool:
        return self.exists() and any(each.name != "_delta_log" for each in self.path.iterdir())

    def make(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

    def file(self, path: str) -> str:
        return str(self.path / path)

    def write(self, path: str, fill: Callable[[IOBase], object]) -> Written:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as opened:
            fill(opened)
        status = target.stat()
        return Written(status.st_size, int(status.st_mtime * 1000))

    def remove(self, path: str) -> None:
        (self.path / path).unlink(missing_ok=True)

    def size(self, path: str) -> int | None:
        try:
            return (self.path / path).stat().st_size
        except FileNotFoundError:
            return None

    def text(self, path: str) -> str | None:
        try:
            return (self.path / path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
