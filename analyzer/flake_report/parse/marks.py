"""A nominated line on its way to the readers, and the raw text that a reader asks to keep."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .clean import OVERWRITTEN, clean
from .landmarks import LONGEST
from .stamps import stamp

KEPT_BYTES = 128 << 10
"""Of one failure's traceback and captured output; the traceback comes first."""

KEPT_OF_ALL = 32 << 20
"""Bytes of all failures of one session that are kept at full length; of further ones, `KEPT_LEAST` each."""

KEPT_LEAST = 4 << 10

KEPT_RESULTS = 500_000
"""Result lines of one session, memory readings of one log: no real job comes near; a broken one fills no memory."""

KEPT_SUMMARY_BYTES = 8 << 20
"""Of one short summary: it holds a line a failed test."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that may matter: `parts` are what it showed, oldest first; the last is what a person sees."""

    line: int
    raw: bytes
    kinds: int
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.parts[-1]

    @property
    def at(self) -> datetime | None:
        return stamp(self.raw)


def mark(line: int, raw: bytes, kinds: int) -> Mark:
    """The mark of a raw line; of a very long one, its two ends."""
    if len(raw) > LONGEST:
        raw = raw[: LONGEST // 2] + b"\r" + raw[-LONGEST // 2 :]
    text = clean(raw)
    if OVERWRITTEN not in text:
        return Mark(line, raw, kinds, (text,))
    visible, *earlier = text.split(OVERWRITTEN)
    return Mark(line, raw, kinds, (*earlier, visible))


class Capture:
    """Raw bytes of consecutive lines, kept up to a limit."""

    def __init__(self, first_line: int, limit: int = KEPT_BYTES) -> None:
        self.first_line = first_line
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> None:
        room = self._limit - self._size
        if room > 0 and data:
            self._parts.append(data[:room])
            self._size += len(data)

    @property
    def kept(self) -> int:
        return min(self._size, self._limit)

    @property
    def whole(self) -> bool:
        return self._size <= self._limit

    def lines(self) -> list[str]:
        """Clean text, a line each; overwritten text is left out, as on a screen."""
        raw = b"".join(self._parts)
        return [clean(line).split(OVERWRITTEN, 1)[0] for line in raw.removesuffix(b"\n").split(b"\n")]
