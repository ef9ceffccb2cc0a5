"""An archive in an object store, through `obstore`.

Chosen over fsspec: one wheel of 6 MB without dependencies speaks S3, Google Cloud Storage and Azure, where fsspec
takes a package and an asynchronous client for each; its objects appear whole or not at all; and it is the library
below `deltalake`, so that both understand the same credentials (AWS_…, GOOGLE_…, AZURE_…).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore, from_url

from flake_report.errors import FlakeReportError

from .storage import MissingError

_CHUNK = 1 << 18
_KEPT_IN_MEMORY = 1 << 24  # a file larger than 16 MiB waits on the disk until it is whole
_SHOWN = 200  # characters of the store's own message that are shown


class Bucket:
    """A folder in a bucket, named by a URL."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        with self._saying_where(""):
            self._store: ObjectStore = from_url(self._url)

    def place(self, path: str) -> str:
        return f"{self._url}/{path}" if path else self._url

    def trail(self, path: str) -> list[str]:
        return self.place(path).split("/")

    def folders(self, path: str) -> list[str]:
        with self._saying_where(path):
            found = obstore.list_with_delimiter(self._store, path or None)["common_prefixes"]
        return sorted(prefix.rstrip("/").rsplit("/", 1)[-1] for prefix in found)

    def files(self, path: str) -> list[str]:
        with self._saying_where(path):
            found = [one["path"] for batch in obstore.list(self._store, path or None) for one in batch]
        return sorted(name.removeprefix(f"{path}/") for name in found)

    def has(self, path: str) -> bool:
        try:
            with self._saying_where(path):
                obstore.head(self._store, path)
        except MissingError:
            return False
        return True

    def read(self, path: str) -> Iterator[bytes]:
        with self._saying_where(path):
            stream = iter(obstore.get(self._store, path).stream(min_chunk_size=_CHUNK))
        while True:
            with self._saying_where(path):
                chunk = next(stream, None)
            if chunk is None:
                return
            yield bytes(chunk)

    def write(self, path: str, chunks: Iterable[bytes]) -> None:
        with SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY) as whole:
            for chunk in chunks:
                whole.write(chunk)
            whole.seek(0)
            with self._saying_where(path):
                obstore.put(self._store, path, whole)

    def sweep(self, path: str) -> None:
        """Nothing to do: an upload that was broken off is no object."""

    @contextmanager
    def _saying_where(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise MissingError(f"{self.place(path)}: there is no such object; check the URL") from error
        except (BaseError, OSError) as error:
            raise FlakeReportError(
                f"{self.place(path)}: the object store refuses ({_said(error)}); check the URL and the credentials"
            ) from error


def _said(error: Exception) -> str:
    """The store's own code and message out of a long chain of reasons, else the chain's beginning."""
    chain = " ".join(str(error).partition("Debug source:")[0].split())
    found = re.search(r"<Code>([^<]*)</Code>\s*(?:<Message>([^<]*)</Message>)?", chain)
    return ": ".join(part for part in found.groups() if part) if found else chain[:_SHOWN]
