"""One pass over a log for every signature: hyperscan over whole buffers, and a close look at the lines it names."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from flake_report.model.failure import Match
from flake_report.model.joblog import Block, Cleaner

from .captures import captured
from .message import harmless, message
from .signatures import SignatureTable

_BEFORE = 2048
_AFTER = 4096
"""Bytes of an endless line that are read on either side of a hit."""
_LINES_BEFORE = 2
_LINES_AFTER = 7
"""Lines over which a message may be broken, before and after the one that was nominated: torch's longest has seven."""
_WIDEST = 240
"""Columns of a line that a viewer may have broken; a longer one was not."""
_LOOKS_A_LINE = 64
"""An endless line is looked at this often at most, else a hostile one would cost hours."""
_MOST_OF_A_ROW = 20_000
"""Matches of one row that are kept, so that a log of nothing but failures takes no memory without bounds."""
_LONGEST_TEXT = 2000
"""Characters of a line that a match keeps."""


class _Place(NamedTuple):
    """A piece of a line in a block: offsets in the block's data."""

    start: int
    stop: int


class _Page:
    """A block, and its line numbers: counted only as far as somebody asks, since most nominated lines are nothing."""

    def __init__(self, data: bytes, first_line: int, offset: int) -> None:
        self.data, self.offset = data, offset
        self._line, self._at = first_line, 0

    def number(self, at: int) -> int:
        """The number of the line that holds offset `at`."""
        if at >= self._at:
            self._line += self.data.count(b"\n", self._at, at)
            self._at = at
            return self._line
        return self._line - self.data.count(b"\n", at, self._at)


class Scan:
    """Collects the matches of one log, block by block."""

    def __init__(self, table: SignatureTable, clean: Cleaner) -> None:
        self._table = table
        self._clean = clean
        self._found: dict[int, Match] = {}
        self._kept: dict[int, int] = defaultdict(int)

    def feed(self, block: Block) -> None:
        """Search one block; blocks come in order, and lines that two of them share count once."""
        self.search(_Page(block.data, block.first_line, block.offset))

    def search(self, page: _Page) -> None:
        data = page.data
        hits: set[tuple[int, int]] = set()
        self._table.matcher.nominate(data, lambda row, end: hits.add((end, row)))
        looked: set[tuple[int, _Place]] = set()
        looks: dict[int, int] = defaultdict(int)
        for end, row in sorted(hits):
            start = data.rfind(b"\n", 0, end) + 1
            look = (row, _place(data, start, end))
            if look not in looked and looks[start] < _LOOKS_A_LINE:
                looked.add(look)
                looks[start] += 1
                self._look(page, *look)

    def matches(self) -> tuple[Match, ...]:
        """What was found, in line order: one match a line, the first row that takes it."""
        return tuple(self._found[line] for line in sorted(self._found))

    def _look(self, page: _Page, row: int, place: _Place) -> None:
        if self._found and self._taken(page.number(place.start), row):
            return
        matcher = self._table.matcher
        text = self._clean(page.data[place.start : place.stop]).strip()
        wanted = matcher.expression(row)
        plain = message(text)
        found = None if harmless(plain) else wanted.search(plain) or wanted.search(text)
        if matcher.wraps(row) and len(text) <= _WIDEST and (found is not None or not matcher.holds_words(row, text)):
            self._look_around(page, row, place, 0 if found is None else _told(found))
        if found is not None:
            self._keep(page, row, place, text, found)

    def _look_around(self, page: _Page, row: int, place: _Place, told: int) -> None:
        """Search the lines around a hit together: the message may be broken over them, and say more than one line."""
        places, hit = _around(page.data, place)
        messages = [message(self._clean(page.data[one.start : one.stop])) for one in places]
        joined = "\n".join(messages)
        for found in self._table.matcher.expression(row).finditer(joined):
            first, last = joined.count("\n", 0, found.start()), joined.count("\n", 0, found.end())
            if first <= hit <= last and first < last and _told(found) >= told and not harmless(messages[first]):
                self._keep(page, row, places[first], " ".join(messages[first : last + 1]), found)
                return

    def _keep(self, page: _Page, row: int, place: _Place, text: str, found: re.Match[str]) -> None:
        line = page.number(place.start)
        if self._kept[row] >= _MOST_OF_A_ROW or self._taken(line, row):
            return
        self._kept[row] += 1
        self._found[line] = Match(
            signature=self._table.rows[row],
            line=line,
            offset=page.offset + place.start,
            text=text[:_LONGEST_TEXT],
            captures=captured(found.groupdict()),
            rank=row,
        )

    def _taken(self, line: int, row: int) -> bool:
        """Whether the line has a match of this row or of a better one."""
        known = self._found.get(line)
        return known is not None and known.rank <= row


def _told(found: re.Match[str]) -> int:
    """How much a match captured."""
    return sum(value is not None for value in found.groups())


def _place(data: bytes, start: int, end: int) -> _Place:
    """The piece of the line around a hit: what stands between two carriage returns, and not without bounds.

    A carriage return lets a tool write over its own text: what was written first is searched as well.
    """
    stop = data.find(b"\n", end, end + _AFTER)
    if stop < 0:
        stop = min(len(data), end + _AFTER)
    start = max(start, end - _BEFORE)
    overwritten = data.find(b"\r", end, stop)
    return _Place(max(start, data.rfind(b"\r", start, end) + 1), overwritten if overwritten >= 0 else stop)


def _around(data: bytes, place: _Place) -> tuple[list[_Place], int]:
    """The place's whole line with the lines before and after it, and how many stand before it."""
    places = [_whole(data, place.start)]
    while len(places) <= _LINES_BEFORE and places[0].start > 0:
        places.insert(0, _whole(data, places[0].start - 1))
    before = len(places) - 1
    while len(places) - before <= _LINES_AFTER and places[-1].stop < len(data) - 1:
        places.append(_whole(data, places[-1].stop + 1))
    return places, before


def _whole(data: bytes, at: int) -> _Place:
    """The line that holds offset `at`, as far as it is not endless."""
    start = max(data.rfind(b"\n", 0, at) + 1, at - _BEFORE)
    stop = data.find(b"\n", at, at + _AFTER)
    return _Place(start, stop if stop >= 0 else min(len(data), at + _AFTER))


def match_text(table: SignatureTable, text: str) -> Match | None:
    """The best match in one test's failure message and traceback: a cause before a wrapper, then by the table."""
    scan = Scan(table, _decoded)
    scan.search(_Page(text.encode("utf-8", "replace"), 1, 0))
    found = scan.matches()
    if len(found) > 1:
        return min(found, key=lambda match: (match.signature.wrapper, match.rank, match.line))
    return found[0] if found else None


_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[_\]][^\x07\x1b]*(?:\x07|\x1b\\)|\([A-Z0-9])")


def _decoded(line: bytes) -> str:
    return _ESCAPES.sub("", line.decode("utf-8", "replace"))
