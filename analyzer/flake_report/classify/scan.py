"""One pass over a log for every signature: hyperscan over whole buffers, and a close look at the lines it names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class _Place:
    """A piece of a line in a block: `start` and `stop` are offsets in the block's data."""

    line: int
    start: int
    stop: int


class Scan:
    """Collects the matches of one log, block by block."""

    def __init__(self, table: SignatureTable, clean: Cleaner) -> None:
        self._table = table
        self._clean = clean
        self._found: dict[int, Match] = {}
        self._kept: Counter[int] = Counter()

    def feed(self, block: Block) -> None:
        """Search one block; blocks come in order, and lines that two of them share count once."""
        hits: set[tuple[int, int]] = set()
        self._table.matcher.nominate(block.data, lambda row, end: hits.add((end, row)))
        line, counted = block.first_line, 0
        looked: set[tuple[int, _Place]] = set()
        looks: Counter[int] = Counter()
        for end, row in sorted(hits):
            start = block.data.rfind(b"\n", 0, end) + 1
            line += block.data.count(b"\n", counted, start)
            counted = start
            look = (row, _place(block.data, line, start, end))
            if look not in looked and looks[line] < _LOOKS_A_LINE:
                looked.add(look)
                looks[line] += 1
                self._look(block, *look)

    def matches(self) -> tuple[Match, ...]:
        """What was found, in line order: one match a line, the first row that takes it."""
        return tuple(self._found[line] for line in sorted(self._found))

    def _look(self, block: Block, row: int, place: _Place) -> None:
        known = self._found.get(place.line)
        if known is not None and known.rank <= row:
            return
        text = self._clean(block.data[place.start : place.stop]).strip()
        wanted = self._table.matcher.expression(row)
        plain = message(text)
        found = None if harmless(plain) else wanted.search(plain) or wanted.search(text)
        if self._table.matcher.wraps(row) and len(text) <= _WIDEST:
            self._look_around(block, row, place, 0 if found is None else _told(found))
        if found is not None:
            self._keep(block, row, place, text, found)

    def _look_around(self, block: Block, row: int, place: _Place, told: int) -> None:
        """Search the lines around a hit together: the message may be broken over them, and say more than one line."""
        places = _around(block.data, place)
        messages = [message(self._clean(block.data[one.start : one.stop])) for one in places]
        joined = "\n".join(messages)
        for found in self._table.matcher.expression(row).finditer(joined):
            first, last = joined.count("\n", 0, found.start()), joined.count("\n", 0, found.end())
            held = range(places[first].line, places[last].line + 1)
            if place.line in held and len(held) > 1 and _told(found) >= told and not harmless(messages[first]):
                self._keep(block, row, places[first], " ".join(messages[first : last + 1]), found)
                return

    def _keep(self, block: Block, row: int, place: _Place, text: str, found: re.Match[str]) -> None:
        known = self._found.get(place.line)
        if (known is not None and known.rank <= row) or self._kept[row] >= _MOST_OF_A_ROW:
            return
        self._kept[row] += 1
        self._found[place.line] = Match(
            signature=self._table.rows[row],
            line=place.line,
            offset=block.offset + place.start,
            text=text[:_LONGEST_TEXT],
            captures=captured(found.groupdict()),
            rank=row,
        )


def _told(found: re.Match[str]) -> int:
    """How much a match captured."""
    return sum(value is not None for value in found.groups())


def _place(data: bytes, line: int, start: int, end: int) -> _Place:
    """The piece of the line around a hit: what stands between two carriage returns, and not without bounds.

    A carriage return lets a tool write over its own text: what was written first is searched as well.
    """
    stop = data.find(b"\n", end, end + _AFTER)
    if stop < 0:
        stop = min(len(data), end + _AFTER)
    start = max(start, end - _BEFORE)
    overwritten = data.find(b"\r", end, stop)
    return _Place(line, max(start, data.rfind(b"\r", start, end) + 1), overwritten if overwritten >= 0 else stop)


def _around(data: bytes, place: _Place) -> list[_Place]:
    """The place's whole line with the lines before and after it."""
    places = [_whole(data, place.line, place.start)]
    while len(places) <= _LINES_BEFORE and places[0].start > 0:
        places.insert(0, _whole(data, places[0].line - 1, places[0].start - 1))
    after = 0
    while after < _LINES_AFTER and places[-1].stop < len(data) - 1:
        places.append(_whole(data, places[-1].line + 1, places[-1].stop + 1))
        after += 1
    return places


def _whole(data: bytes, line: int, at: int) -> _Place:
    """The line that holds offset `at`, as far as it is not endless."""
    start = max(data.rfind(b"\n", 0, at) + 1, at - _BEFORE)
    stop = data.find(b"\n", at, at + _AFTER)
    return _Place(line, start, stop if stop >= 0 else min(len(data), at + _AFTER))


def match_text(table: SignatureTable, text: str) -> Match | None:
    """The best match in one test's failure message and traceback: a cause before a wrapper, then by the table."""
    scan = Scan(table, _decoded)
    scan.feed(Block(text.encode("utf-8", "replace"), first_line=1, offset=0))
    return min(scan.matches(), key=lambda match: (match.signature.wrapper, match.rank, match.line), default=None)


_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[_\]][^\x07\x1b]*(?:\x07|\x1b\\)|\([A-Z0-9])")


def _decoded(line: bytes) -> str:
    return _ESCAPES.sub("", line.decode("utf-8", "replace"))
