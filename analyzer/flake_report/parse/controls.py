"""Whether a block of bytes holds a control character that XML does not allow.

Every byte must be looked at, so this is a good part of the cost of much data: hyperscan does it ten times as fast as
the fastest way in plain Python, but takes 20 ms to load. It is loaded when there proves to be much, in one or many
files.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count

_SMALL = 1 << 16
_FEW = 16
"""Blocks that are not small; so many are looked at before hyperscan is worth its loading."""
_SPACED = bytes(0x20 if code < 0x20 and code not in b"\t\n\r" else code for code in range(256))
_asked = count(1)


def has_controls(block: bytes) -> bool:
    """Which of the two ways is taken makes no difference but in time."""
    return (translated if len(block) < _SMALL or next(_asked) <= _FEW else _scanner())(block)


def translated(block: bytes) -> bool:
    """The plain way: whether a table of bytes, applied, changes any."""
    return block.translate(_SPACED) is not block  # bytes that no change applies to come back themselves


@cache
def _scanner() -> Callable[[bytes], bool]:
    import hyperscan  # noqa: PLC0415 - see above: most commands read too little for it

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(expressions=[rb"[\x00-\x08\x0b\x0c\x0e-\x1f]"], flags=[hyperscan.HS_FLAG_SINGLEMATCH])
    idle: list[hyperscan.Scratch] = []  # no two threads may use one at once

    def scan(block: bytes) -> bool:
        found: list[int] = []

        def note(_id: int, start: int, _end: int, _flags: int, _context: object) -> None:
            found.append(start)

        try:
            scratch = idle.pop()
        except IndexError:
            scratch = hyperscan.Scratch(database)
        database.scan(block, match_event_handler=note, scratch=scratch)
        idle.append(scratch)
        return bool(found)

    return scan
