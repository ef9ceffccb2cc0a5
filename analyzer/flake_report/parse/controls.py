"""Whether a block of bytes holds a control character that XML does not allow.

Every byte must be looked at, so this is a good part of the cost of a large file: hyperscan does it ten times as fast
as the fastest way in plain Python, but takes 20 ms to load. It is loaded when a file proves large.
"""

from __future__ import annotations

from collections.abc import Callable

_SMALL_BLOCKS = 16
_SPACED = bytes(0x20 if code < 0x20 and code not in b"\t\n\r" else code for code in range(256))


class Controls:
    """Asked block after block of one file."""

    def __init__(self) -> None:
        self._asked = 0
        self._scan: Callable[[bytes], bool] = translated

    def __call__(self, block: bytes) -> bool:
        self._asked += 1
        if self._asked == _SMALL_BLOCKS:
            self._scan = _scanner()
        return self._scan(block)


def translated(block: bytes) -> bool:
    """The plain way: whether a table of bytes, applied, changes any."""
    return block.translate(_SPACED) is not block  # bytes that no change applies to come back themselves


def _scanner() -> Callable[[bytes], bool]:
    import hyperscan  # noqa: PLC0415 - see above: most files are too small for it

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(expressions=[rb"[\x00-\x08\x0b\x0c\x0e-\x1f]"], flags=[hyperscan.HS_FLAG_SINGLEMATCH])
    found: list[int] = []

    def note(_id: int, start: int, _end: int, _flags: int, _context: object) -> None:
        found.append(start)

    def scan(block: bytes) -> bool:
        found.clear()
        database.scan(block, match_event_handler=note)
        return bool(found)

    return scan
