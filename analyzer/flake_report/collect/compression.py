"""Compressed data to plain data, told apart by content: a file's name may lie, its first bytes do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Protocol

import zstandard
from isal import isal_zlib

from flake_report.errors import FlakeReportError

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"  # after a first byte of 0x50 to 0x5f (RFC 8878, 3.1.2)
_MAGIC_SIZE = 4
_PIECE_OF_GZIP = 1 << 15  # deflate grows at most 1032-fold: 34 MB
_PIECE_OF_ZSTD = 1 << 12  # 4 KiB can grow to 128 MiB: more at once would give a hostile file more memory


class _Decoder(Protocol):
    """What isal's and zstandard's decompression objects have in common: one frame, then `eof`."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _new_gzip() -> _Decoder:
    return isal_zlib.decompressobj(wbits=31)  # 31: gzip header and checksum, full window


def _new_zstd() -> _Decoder:
    return zstandard.ZstdDecompressor().decompressobj()


def decompressed(name: str, raw: Iterator[bytes]) -> Iterator[bytes]:
    """Plain bytes of gzip (any number of members), zstd (any number of frames) or uncompressed data.

    Damaged data gives all that could be read, but for a byte before a cut, and then raises `FlakeReportError`, which
    names `name`.
    """
    head = b""
    for chunk in raw:
        head += chunk
        if len(head) >= _MAGIC_SIZE:
            break
    if head.startswith(_GZIP):
        yield from _frames(name, "gzip", _new_gzip, _pieces(chain((head,), raw), _PIECE_OF_GZIP))
    elif head.startswith(_ZSTD) or (head[1:_MAGIC_SIZE] == _ZSTD_SKIPPABLE and head[0] >> 4 == 5):
        yield from _frames(name, "zstd", _new_zstd, _pieces(chain((head,), raw), _PIECE_OF_ZSTD))
    else:
        if head:
            yield head
        yield from raw


def _frames(name: str, kind: str, new: Callable[[], _Decoder], pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder, inside, readable = new(), False, 0
    for piece in pieces:
        rest = piece
        while rest := (rest if inside else rest.lstrip(b"\0")):  # disks and tapes pad with zeros after a member
            try:
                data = decoder.decompress(rest)
            except (isal_zlib.error, zstandard.ZstdError) as error:  # type: ignore[misc]  # isal's stub has it wrong
                where = f"after {readable:,} readable bytes"
                raise FlakeReportError(
                    f"{name}: the {kind} data is damaged {where} ({error}); get the file again"
                ) from error
            if data:
                readable += len(data)
                yield data
            inside, rest = not decoder.eof, decoder.unused_data if decoder.eof else b""
            if not inside:
                decoder = new()
    if inside:
        raise FlakeReportError(
            f"{name}: the {kind} data ends in the middle, after {readable:,} readable bytes; get the file again"
        )


def _pieces(raw: Iterator[bytes], size: int) -> Iterator[bytes]:
    for chunk in raw:
        for at in range(0, len(chunk), size):
            yield chunk[at : at + size]
