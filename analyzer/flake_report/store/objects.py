"""Files in buckets for DuckDB, which brings no reader of its own for them: a file system that asks `obstore`.

What it costs, beside the same files in a folder: the requests. A file of up to 4 MB takes one and is kept for the next
statement; a larger one takes two a statement, for its footer and for the columns that are asked for. A first question
takes about twice as long as in a folder where each request takes 20 ms; `tests/bench/bench_bucket.py` measures it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from io import RawIOBase
from threading import Lock
from typing import Any

import obstore
from fsspec import AbstractFileSystem
from obstore.exceptions import BaseError
from obstore.store import ObjectStore, from_url

from flake_report.errors import reason

from .delta import DataFile

_WHOLE = 1 << 22  # bytes of a file that is got at once: quicker than a second request
_KEPT = 1 << 27  # bytes of such files that are held for the next statement


class UnreadableObjectError(OSError):
    """The object store did not give what a statement needs."""


class Objects(AbstractFileSystem):  # type: ignore[misc]  # fsspec ships no types
    """The data files of stores, under their addresses. They never change, so nobody is asked whether they did."""

    protocol = ("s3", "gs", "az")
    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self._sizes: dict[str, int] = {}
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()
        self.trouble: UnreadableObjectError | None = None
        """What went wrong last: DuckDB tells of it as of a mistake in the statement."""

    def know(self, files: Iterable[DataFile]) -> None:
        """Their sizes are in the log: no need to ask."""
        self._sizes |= {file.path: file.size for file in files}

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path

    def info(self, path: str, **_options: Any) -> dict[str, Any]:
        return {"name": path, "size": self._sizes[path], "type": "file"}

    def exists(self, path: str, **_options: Any) -> bool:
        return path in self._sizes

    def glob(self, path: str, **_options: Any) -> list[str]:
        return [path]

    def modified(self, _path: str) -> datetime:
        return datetime.fromtimestamp(0, UTC)

    def open(self, path: str, mode: str = "rb", **_options: Any) -> Object:  # noqa: ARG002  # it is only read
        return Object(self, path, self._sizes[path])

    def part(self, path: str, start: int, length: int) -> bytes:
        """Some bytes of a file. Raises `UnreadableObjectError`."""
        bucket, key = _split(path)
        try:
            if self._sizes[path] > _WHOLE:
                return bytes(obstore.get_range(_opened(bucket), key, start=start, length=length))
            return self._whole(path, bucket, key)[start : start + length]
        except (BaseError, OSError) as error:
            self.trouble = UnreadableObjectError(f"{path}: {reason(error)}")
            raise self.trouble from error

    def _whole(self, path: str, bucket: str, key: str) -> bytes:
        with self._lock:
            if path in self._held:
                self._held.move_to_end(path)
                return self._held[path]
        data = bytes(obstore.get(_opened(bucket), key).bytes())
        with self._lock:
            self._held[path] = data
            while sum(map(len, self._held.values())) > _KEPT:
                self._held.popitem(last=False)
        return data


class Object(RawIOBase):
    """One file, open for reading."""

    def __init__(self, objects: Objects, path: str, size: int) -> None:
        self._objects, self._path, self.size = objects, path, size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._at = (0, self._at, self.size)[whence] + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        end = self.size if size < 0 else min(self._at + size, self.size)
        data = self._objects.part(self._path, self._at, end - self._at) if end > self._at else b""
        self._at += len(data)
        return data


def _split(path: str) -> tuple[str, str]:
    scheme, _, rest = path.partition("://")
    bucket, _, key = rest.partition("/")
    return f"{scheme}://{bucket}", key


@cache
def _opened(bucket: str) -> ObjectStore:
    return from_url(bucket)


@cache
def objects() -> Objects:
    """The one of this process: what a statement has read, the next one need not."""
    return Objects()
