"""The cases of one file, kept in little memory until it is known which of them are attempts of one test.

pytest writes an attempt that was run again as an element like a pass; only the end of the suite tells. Cases are
objects while they are few; more are packed, a megabyte at a time, to about a tenth of their size.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from typing import Any, TypeAlias

import zstandard

from . import limits
from .junit_case import Case, Part, Run, Suite
from .junit_dialect import Dialect

Entry: TypeAlias = Suite | Case | Run

_SUITE, _CASE, _RUN = range(3)


class Held:
    """Entries in file order; a `Suite` stands before the cases that it holds itself."""

    def __init__(self) -> None:
        self._loose: list[Entry] = []
        self._size = 0
        self._packs: list[bytes] = []
        self._packed_size = 0

    def add(self, entry: Entry, size: int) -> None:
        """`size` is about what the entry holds, in characters."""
        self._loose.append(entry)
        self._size += size
        if self._size > limits.HELD_BLOCK:
            self._pack()

    @property
    def full(self) -> bool:
        """Whether more is held than should be."""
        return self._packed_size > limits.HELD_PACKED_BYTES

    def clear(self) -> None:
        """Forgets everything."""
        self.__init__()  # type: ignore[misc]

    def __iter__(self) -> Iterator[Entry]:
        for pack in self._packs:
            for raw in marshal.loads(zstandard.ZstdDecompressor().decompress(pack)):  # noqa: S302 - our own bytes, packed a moment ago in this process
                yield _unpacked(raw)
        yield from self._loose

    def _pack(self) -> None:
        packed = zstandard.ZstdCompressor(level=1).compress(marshal.dumps([_packed(entry) for entry in self._loose]))
        self._packs.append(packed)
        self._packed_size += len(packed)
        self._loose, self._size = [], 0


def _packed(entry: Entry) -> tuple[Any, ...]:
    """As plain tuples, which is all that marshal takes."""
    if isinstance(entry, Run):
        return _RUN, *entry
    if isinstance(entry, Suite):
        return _SUITE, *entry[:-1], int(entry.dialect)
    return _CASE, *entry[:6], tuple(tuple(part) for part in entry.parts), *entry[7:]


def _unpacked(raw: tuple[Any, ...]) -> Entry:
    kind, fields = raw[0], raw[1:]
    if kind == _RUN:
        return Run._make(fields)
    if kind == _SUITE:
        return Suite._make((*fields[:-1], Dialect(fields[-1])))
    return Case._make((*fields[:6], tuple(Part._make(part) for part in fields[6]), *fields[7:]))
