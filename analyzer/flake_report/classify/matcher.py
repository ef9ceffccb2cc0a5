"""The rows of a table, compiled: hyperscan nominates lines, `re` decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import hyperscan

from flake_report.model.failure import Signature

from .prefilter import CARET, Prefilter, Text

Nominate = Callable[[int, int], None]
"""Called with a row's index and the end offset of what was seen of it."""

_REACH = 2048
"""Bytes around a hit in which the rest of a message must stand that may be broken over lines."""
_LINE = 8192
"""Bytes around a hit in which the rest of a line must stand."""


class Matcher:
    """Finds in bytes where rows may match, and decides on text. Safe to share: no two scans use one scratch at once."""

    def __init__(self, rows: Sequence[Signature], prefilters: Sequence[Prefilter]) -> None:
        self._rows = rows
        self._prefilters = prefilters
        self._expressions: dict[int, re.Pattern[str]] = {}
        wanted = [(text, row) for row, one in enumerate(prefilters) for text in one.texts]
        self._plain = _Texts([(text, row) for text, row in wanted if CARET not in text.text], prefilters)
        # Escapes copied as caret text stand in few logs: only these pay for looking for them.
        self._carets = _Texts([(text, row) for text, row in wanted if CARET in text.text], prefilters)

    def nominate(self, data: bytes, seen: Nominate) -> None:
        """Report each place where a row may match."""
        self._plain.nominate(data, seen)
        if data.find(CARET[:1]) >= 0 and CARET in data:  # one byte is found ten times as fast as two
            self._carets.nominate(data, seen)

    def wraps(self, row: int) -> bool:
        """Whether the row's message may be broken over lines."""
        return self._prefilters[row].wraps

    def holds_words(self, row: int, text: str) -> bool:
        """Whether a line has every word of the row's message, so that the message is not broken over lines."""
        return self._prefilters[row].held_in(text)

    def expression(self, row: int) -> re.Pattern[str]:
        """The row's pattern, compiled when it is first needed."""
        if row not in self._expressions:
            self._expressions[row] = re.compile(self._rows[row].pattern, re.MULTILINE)
        return self._expressions[row]


class _Texts:
    """Texts that hyperscan looks for at once; compiled when they are first needed."""

    def __init__(self, wanted: list[tuple[Text, int]], prefilters: Sequence[Prefilter]) -> None:
        self._wanted = wanted
        self._prefilters = prefilters
        self._database: hyperscan.Database | None = None
        # Scratches that nobody uses now: to make one takes longer than to scan one test's failure with it.
        self._idle: list[hyperscan.Scratch] = []

    def __getstate__(self) -> dict[str, object]:
        """A table travels to other processes; what is compiled is made anew there."""
        return {**self.__dict__, "_database": None, "_idle": []}

    def nominate(self, data: bytes, seen: Nominate) -> None:
        if not data or not self._wanted:
            return
        database = self._database = self._database or self._compiled()

        # hyperscan keeps no reference to its callback, so it must outlive the call under a name.
        def hit(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            text, row = self._wanted[number]
            if not text.nearby or self._confirmed(data, text, row, end):
                seen(row, end)

        try:
            scratch = self._idle.pop()
        except IndexError:
            scratch = hyperscan.Scratch(database)
        database.scan(data, match_event_handler=hit, scratch=scratch)
        self._idle.append(scratch)

    def _compiled(self) -> hyperscan.Database:
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        caseless = [self._prefilters[row].caseless for _, row in self._wanted]
        database.compile(
            expressions=[text.text for text, _ in self._wanted],
            ids=list(range(len(self._wanted))),
            elements=len(self._wanted),
            flags=[hyperscan.HS_FLAG_CASELESS if one else 0 for one in caseless],
            literal=True,
        )
        return database

    def _confirmed(self, data: bytes, text: Text, row: int, end: int) -> bool:
        """Whether the words that must stand near a hit do."""
        if self._prefilters[row].wraps:
            start, stop = max(0, end - _REACH), end + _REACH
        else:
            start = max(data.rfind(b"\n", 0, end) + 1, end - _LINE)
            stop = data.find(b"\n", end, end + _LINE)
            stop = end + _LINE if stop < 0 else stop
        return all(data.find(word, start, stop) >= 0 for word in text.nearby)
