"""The rows of a table, compiled: hyperscan nominates lines, `re` decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import hyperscan

from flake_report.model.failure import Signature

from .prefilter import Prefilter

Nominate = Callable[[int, int], None]
"""Called with a row's index and the end offset of what hyperscan saw of it."""


class Matcher:
    """Finds in bytes where rows may match, and decides on text. Safe to share: each scan makes its own scratch."""

    def __init__(self, rows: Sequence[Signature], prefilters: Sequence[Prefilter]) -> None:
        """Compile the rows. Raises `hyperscan.error` where hyperscan refuses one of them."""
        self._rows = rows
        self._prefilters = prefilters
        self._expressions: dict[int, re.Pattern[str]] = {}
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        if rows:
            wanted = [(words, row, one.caseless) for row, one in enumerate(prefilters) for words in one.expressions]
            self._database.compile(
                expressions=[words for words, _, _ in wanted],
                ids=[row for _, row, _ in wanted],
                flags=[hyperscan.HS_FLAG_CASELESS if caseless else 0 for _, _, caseless in wanted],
            )

    def nominate(self, data: bytes, seen: Nominate) -> None:
        """Report each place where a row may match, in order of its end."""
        if not self._rows or not data:
            return

        # hyperscan keeps no reference to its callback, so it must outlive the call under a name.
        def hit(row: int, _start: int, end: int, _flags: int, _context: object) -> None:
            seen(row, end)

        self._database.scan(data, match_event_handler=hit, scratch=hyperscan.Scratch(self._database))

    def wraps(self, row: int) -> bool:
        """Whether the row's message may be broken over lines."""
        return self._prefilters[row].wraps

    def expression(self, row: int) -> re.Pattern[str]:
        """The row's pattern, compiled when it is first needed."""
        if row not in self._expressions:
            self._expressions[row] = re.compile(self._rows[row].pattern, re.MULTILINE)
        return self._expressions[row]
