"""A store in an object store: what `root` asks of a place, through `obstore`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import IOBase, RawIOBase
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore, from_url

from .root import Written

if TYPE_CHECKING:
    from obstore import WritableFile
    from typing_extensions import Buffer  # `collections.abc` has it from Python 3.12 on


class Bucket:
    """A folder in a bucket, named by a URL."""

    if_unmade = if_unreadable = "check the address and the credentials"

    def __init__(self, url: str) -> None:
        self.address = url
        self._opened: ObjectStore | None = None

    def __str__(self) -> str:
        return self.address

    def exists(self) -> bool:
        return True

    def occupied(self) -> bool:
        with _as_os_error():
            found = obstore.list_with_delimiter(self._store)
        return bool(found["objects"]) or any(name != "_delta_log" for name in found["common_prefixes"])

    def make(self) -> None:
        """Nothing to do: folders come with their files."""

    def file(self, path: str) -> str:
        return f"{self.address}/{path}"

    def write(self, path: str, fill: Callable[[IOBase], object]) -> Written:
        with _as_os_error():
            # One request for up to 10 MB, pieces of that size for more; never closed where `fill` fails, and then
            # there is no object.
            upload = _Upload(obstore.open_writer(self._store, path))
            fill(upload)
            upload.finish()
        return Written(upload.size, int(time.time() * 1000))

    def remove(self, path: str) -> None:
        with _as_os_error():
            obstore.delete(self._store, path)

    def size(self, path: str) -> int | None:
        try:
            with _as_os_error():
                return obstore.head(self._store, path)["size"]
        except FileNotFoundError:
            return None

    def text(self, path: str) -> str | None:
        try:
            with _as_os_error():
                return bytes(obstore.get(self._store, path).bytes()).decode("utf-8")
        except FileNotFoundError:
            return None

    @property
    def _store(self) -> ObjectStore:
        """Opened when it is needed: Delta has then met the address first, and said what is wrong with it."""
        if self._opened is None:
            self._opened = from_url(self.address)
        return self._opened


class _Upload(RawIOBase):
    """An object that comes to be when it is finished; `size` counts its bytes."""

    def __init__(self, opened: WritableFile) -> None:
        self._opened = opened
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        written = self._opened.write(data)
        self.size += written
        return written

    def finish(self) -> None:
        self._opened.close()


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except BaseError as error:
        raise OSError(str(error)) from error
