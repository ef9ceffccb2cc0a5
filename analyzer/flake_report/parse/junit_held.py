"""The cases of one file, kept in little memory until it is known which of them are attempts of one test.

pytest writes an attempt that was run again as an element like a pass; only the end of the suite tells. Cases are
objects while they are few, as in most reports; where they are more, all are packed, a megabyte at a time, to about a
tenth of their size.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from typing import TypeAlias

import zstandard

from . import limits
from .junit_case import Case, Part, Suite
from .junit_dialect import Dialect
from .junit_simple import Run, Simple

Entry: TypeAlias = Suite | Case | Run | Simple

_SUITE, _CASE, _RUN, _SIMPLE = range(4)
_OBJECT = 400
"""Bytes that an entry takes beside its characters, about."""


class Held:
    """Entries in file order; a `Suite` stands before the cases that it holds itself."""

    def __init__(self) -> None:
        self._loose: list[Entry] = []
        self._size = 0
        self._blocks: list[list[Entry]] = []
        self._blocks_size = 0
        self._packs: list[bytes] = []
        self._packed_size = 0
        self._compressor: zstandard.ZstdCompressor | None = None

    def add(self, entry: Entry, size: int) -> None:
        """`size` is about what the entry holds, in characters."""
        self._loose.append(entry)
        self._size += size
        if self._size > limits.HELD_BLOCK:
            self._end_block()

    @property
    def full(self) -> bool:
        """Whether more is held than should be."""
        return self._packed_size > limits.HELD_PACKED_BYTES

    def clear(self) -> None:
        """Forgets everything."""
        self._loose, self._size, self._packs, self._packed_size = [], 0, [], 0
        self._blocks, self._blocks_size = [], 0

    def __iter__(self) -> Iterator[Entry]:
        for pack in self._packs:
            # Our own bytes, packed a moment ago by this very process.
            for kind, fields in marshal.loads(zstandard.ZstdDecompressor().decompress(pack)):  # noqa: S302 - see above
                if kind == _SIMPLE:
                    yield Simple(*fields)
                elif kind == _RUN:
                    yield Run(*fields)
                else:
                    yield _suite(fields) if kind == _SUITE else _case(fields)
        for block in self._blocks:
            yield from block
        yield from self._loose

    def _end_block(self) -> None:
        self._blocks.append(self._loose)
        self._blocks_size += self._size + _OBJECT * len(self._loose)
        self._loose, self._size = [], 0
        if self._packs or self._blocks_size > limits.HELD_BLOCKS:
            for block in self._blocks:
                self._pack(block)
            self._blocks = []

    def _pack(self, block: list[Entry]) -> None:
        raw = marshal.dumps([_plain(entry) for entry in block])
        # Copied: what the compressor returns keeps the room that the worst case would have needed.
        if self._compressor is None:  # small files never need it
            self._compressor = zstandard.ZstdCompressor(level=-1)  # fast: names shrink to a tenth all the same
        packed = bytes(memoryview(self._compressor.compress(raw)))
        self._packs.append(packed)
        self._packed_size += len(packed)


def _plain(entry: Entry) -> tuple[int, tuple[object, ...]]:
    """As plain tuples and numbers, which is all that marshal takes."""
    if isinstance(entry, Simple):
        return _SIMPLE, tuple(entry)
    if isinstance(entry, Run):
        return _RUN, (entry.text, entry.keys, entry.cases)
    if isinstance(entry, Suite):
        return _SUITE, tuple(entry._replace(dialect=int(entry.dialect)))  # type: ignore[arg-type]
    return _CASE, tuple(entry._replace(parts=tuple(tuple(part) for part in entry.parts)))  # type: ignore[misc]


def _suite(fields: tuple[object, ...]) -> Suite:
    suite = Suite._make(fields)
    return suite._replace(dialect=Dialect(suite.dialect))


def _case(fields: tuple[object, ...]) -> Case:
    case = Case._make(fields)
    return case._replace(parts=tuple(Part._make(part) for part in case.parts))
