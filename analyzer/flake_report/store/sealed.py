"""Files that are kept beside a store, each behind a checksum of what it holds: one that came to harm is made anew.

A bit that a disk or a copy turned in a Parquet file is another number, and its reader does not see that.
"""

from __future__ import annotations

import secrets
import zlib
from pathlib import Path

_SEAL = 8
"""Bytes of the checksum, a CRC-32, in front: as fast as a file is read, and 8 of them keep what follows aligned."""


class HarmedError(OSError):
    """A file does not hold what was written into it."""


def put(path: Path, content: bytes | memoryview) -> None:
    """Write a file, which appears whole. Raises `OSError` where it cannot be written."""
    path.parent.mkdir(exist_ok=True)
    unfinished = path.parent / f"{secrets.token_hex(8)}.unfinished"
    try:
        with unfinished.open("wb") as file:
            file.write(_seal(content))
            file.write(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)  # a full disk is not filled by what failed


def content_of(path: Path) -> memoryview:
    """What was put there. Raises `OSError` where there is no such file, `HarmedError` where it is not whole."""
    held = memoryview(path.read_bytes())
    content = held[_SEAL:]
    if held[:_SEAL] != _seal(content):
        raise HarmedError(f"{path} is damaged")
    return content


def _seal(content: bytes | memoryview) -> bytes:
    return zlib.crc32(content).to_bytes(_SEAL, "big")
