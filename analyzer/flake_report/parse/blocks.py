"""Chunks of a file to blocks of whole lines, numbered, in flat memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flake_report.model.joblog import Block

BLOCK_SIZE = 8 << 20
"""Bytes of fresh text in a block. Most job logs are smaller: they are one block, and nothing is copied or counted."""

OVERLAP = 64 << 10
"""Bytes that a block repeats of the one before it, at most: room for a traceback of several hundred lines."""


def blocks(chunks: Iterable[bytes], size: int = BLOCK_SIZE, overlap: int = OVERLAP) -> Iterator[Block]:
    """Blocks of about `size` fresh bytes, cut at line ends; lines end with a line feed alone and count from 1.

    A line that is longer than a block is handed on in pieces: the block is marked `cut`, and its successor repeats
    the last `overlap` bytes of the piece. So no byte is lost, and memory stays below three blocks.
    """
    cutter = _Cutter(overlap)
    for chunk in _at_most(size, chunks):
        cutter.add(chunk)
        if cutter.fresh >= size:
            yield cutter.block()
    if cutter.fresh or cutter.untouched:
        yield cutter.rest()


def _at_most(size: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        if len(chunk) <= size:
            yield chunk
        else:
            yield from (chunk[start : start + size] for start in range(0, len(chunk), size))


class _Cutter:
    """What is read and not yet handed on: bytes repeated of the last block, then fresh ones."""

    def __init__(self, overlap: int) -> None:
        self._overlap = overlap
        self._repeated = b""
        self._parts: list[bytes] = []
        self._uncounted = (b"", 0)
        self._first_line = 1
        self._offset = 0
        self.fresh = 0
        self.untouched = True

    def add(self, chunk: bytes) -> None:
        self._count()
        self._parts.append(chunk)
        self.fresh += len(chunk)

    def block(self) -> Block:
        """The whole lines held; or everything, marked as cut, where no line ends."""
        for index in range(len(self._parts) - 1, -1, -1):
            part = self._parts[index]
            end = part.rfind(b"\n") + 1
            if end:
                left = [part[end:], *self._parts[index + 1 :]]
                self._parts[index:] = [part[:end]]
                return self._made(left, cut=False)
        return self._made([], cut=True)

    def rest(self) -> Block:
        return self._made([], cut=False)

    def _count(self) -> None:
        passed, end = self._uncounted
        self._first_line += passed.count(b"\n", 0, end)
        self._uncounted = (b"", 0)

    def _made(self, left: list[bytes], *, cut: bool) -> Block:
        """The parts held as a block; `left` stays for the next one, behind what that repeats of this one."""
        self._count()
        data = b"".join([self._repeated, *self._parts] if self._repeated else self._parts)
        made = Block(data, self._first_line, self._offset, len(self._repeated), cut)
        keep = max(len(data) - self._overlap, 0)
        if keep and not cut:
            keep = data.find(b"\n", keep - 1) + 1 or len(data)
        self._repeated = data[keep:]
        self._parts = left
        self.fresh = sum(map(len, left))
        self._offset += keep
        self._uncounted = (data, keep)  # counted when more text comes: most files end in their first block
        self.untouched = False
        return made
