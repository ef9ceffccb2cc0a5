"""Single files, standard input and pipes, as blobs that can be read again and again, decompressed."""

from __future__ import annotations

import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob

from .compression import decompressed

if TYPE_CHECKING:
    from .answer import Body  # it brings requests, which a file on the disk needs not

Warn: TypeAlias = Callable[[str], None]
"""Takes one sentence about something that was damaged or left out; the rest goes on."""

STANDARD_INPUT = "standard input"
_CHUNK = 1 << 18
_HEAD = 1 << 14
_KEPT_IN_MEMORY = 1 << 24  # a spool larger than 16 MiB moves to the disk


def open_blob(path: str, stdin: BinaryIO | None = None) -> Blob:
    """The file at `path`, or standard input for `-`; gzip and zstd are recognised by content.

    Standard input and pipes (`<(…)` in a shell) are read once and kept, so that they can be read again. A missing,
    unreadable or unsuitable path raises `FlakeReportError` here; damaged data raises it while reading, after all
    that could be read: `salvaged` makes a warning of it.
    """
    if path == "-":
        return _spooled(STANDARD_INPUT, stdin or sys.stdin.buffer)
    file = Path(path)
    try:
        mode = file.stat().st_mode
        if stat.S_ISDIR(mode):
            raise FlakeReportError(f"{path} is a folder, not a file; name the files in it")
        opened = file.open("rb")
    except FileNotFoundError as error:
        raise FlakeReportError(f"{path}: there is no such file; check the path") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(mode):
        return _spooled(path, opened, close=opened.close)
    opened.close()
    return file_blob(file, path)


def file_blob(file: Path, name: str) -> Blob:
    """The regular file `file` under a name that a person knows; opened only when it is read."""
    return Blob(name, partial(_read_file, file, name))


def fetched_blob(name: str, fetch: Callable[[], Body]) -> Blob:
    """What `fetch` brings when it is read for the first time, kept for as long as somebody may read it again."""
    kept = cache(fetch)
    return Blob(name, lambda: decompressed(name, kept().chunks()))


def head_of(blob: Blob) -> bytes:
    """The first 16 KiB of `blob`; fewer where it is shorter, or damaged before that."""
    held = b""
    with suppress(FlakeReportError):
        for chunk in blob.read():
            held += chunk
            if len(held) >= _HEAD:
                break
    return held[:_HEAD]


def salvaged(blob: Blob, warn: Warn) -> Iterator[bytes]:
    """All of `blob` that can be read: damage ends the data with a warning instead of an error.

    The error is raised all the same where not one byte came: such a file holds nothing to go on with.
    """
    some = False
    try:
        for chunk in blob.read():
            some = True
            yield chunk
    except FlakeReportError as error:
        if not some:
            raise
        warn(str(error))


def _read_file(file: Path, name: str) -> Iterator[bytes]:
    once = decompressed(name, _raw_file(file, name))
    return decompressed(name, once)  # an artifact that was compressed lies compressed again in the archive


def _raw_file(file: Path, name: str) -> Iterator[bytes]:
    try:
        with file.open("rb", buffering=0) as opened:
            while chunk := opened.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: OSError | ValueError) -> FlakeReportError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return FlakeReportError(f"{name}: cannot be read ({reason}); check the path and its permissions")


def _spooled(name: str, source: BinaryIO, close: Callable[[], None] | None = None) -> Blob:
    spool = _Spool(name, source, close or _left_open)
    return Blob(name, lambda: decompressed(name, spool.read()))


def _left_open() -> None:
    """Standard input is its owner's to close."""


class _Spool:
    """Bytes that come only once, kept for as long as somebody may read them again."""

    def __init__(self, name: str, source: BinaryIO, close: Callable[[], None]) -> None:
        self._name = name
        self._source: BinaryIO | None = source
        self._close = weakref.finalize(self, close)
        self._kept = tempfile.SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY)  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._kept.close)

    def read(self) -> Iterator[bytes]:
        """The bytes from the start; two readers at once do not disturb each other."""
        self._fill()
        at = 0
        while True:
            self._kept.seek(at)
            chunk = self._kept.read(_CHUNK)
            if not chunk:
                return
            at += len(chunk)
            yield chunk

    def _fill(self) -> None:
        if self._source is None:
            return
        try:
            while chunk := self._source.read(_CHUNK):
                self._kept.write(chunk)
        except (OSError, ValueError) as error:
            raise _unreadable(self._name, error) from error
        self._source = None
        self._close()
