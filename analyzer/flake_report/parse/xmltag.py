"""A start tag read attribute by attribute: one too long to be held, or not written as XML asks."""

from __future__ import annotations

import re
from zlib import crc32

from . import limits
from .xmlgrammar import NAME, UNFINISHED
from .xmltext import attribute, flaw

_START = re.compile(f"<({NAME})")
# Space, and the end of the tag; or a name, and after `=` a quote or a value without.
_PART = re.compile(rf"""(\s*)(?:(/?)(>)|({NAME})(\s*=\s*(?:(["'])|([^\s"'<>=]+)))?)""")
_SPACE = re.compile(r"\s*")
_UNSURE = re.compile(r"[\s=]*")
_SHORT = 100  # characters of an end tag or the like that is cut
_HALF = limits.MESSAGE // 2 - 40  # the mark stands between, and all stays within the limit of a message


class Value:
    """An attribute's value, given in pieces, of which the beginning and the end are kept."""

    __slots__ = ("_check", "_first", "_last", "size")

    def __init__(self) -> None:
        self._first = ""
        self._last = ""
        self.size = 0
        self._check = 0

    def add(self, piece: str) -> None:
        """A further piece, its references resolved."""
        self.size += len(piece)
        self._check = crc32(piece.encode("utf-8", "surrogatepass"), self._check)
        if (room := limits.VALUE - len(self._first)) > 0:
            self._first += piece[:room]
        self._last = (self._last + piece)[-_HALF:]

    def text(self, key: str) -> str:
        """What was kept, with a mark in place of what was cut: but for a message, one that tells values apart."""
        if self.size <= limits.VALUE:
            return self._first
        apart = "" if key == "message" else f", {self._check:08x}"
        cut = self.size - 2 * _HALF
        return f"{self._first[:_HALF]} [... {cut:,} characters cut{apart} ...] {self._last}"


def shortened(key: str, value: str) -> str:
    """A value as it is kept: as it is, or if it is longer than `limits.VALUE` without its middle."""
    if len(value) <= limits.VALUE:
        return value
    kept = Value()
    kept.add(value)
    return kept.text(key)


class OpenTag:
    """A start tag of which more may come. Feed it with `read` until it is `done` or `broken`."""

    def __init__(self, buffer: str, at: int) -> None:
        start = _START.match(buffer, at)
        self.name = start[1] if start else ""
        self.attributes: dict[str, str] = {}
        self.done = False
        self.broken = start is None
        # Whether all there is could be the beginning of a tag.
        self.ran_out = start is None and len(buffer) - at < _SHORT and buffer.find(">", at) < 0
        self.empty = False
        """Whether it ends in `/>`."""
        self.cut: list[str] = []
        """Attributes whose values are shortened."""
        self.flaws: list[str] = []
        """What is not well-formed in it."""
        self.at = start.end() if start else at
        """Where reading goes on."""
        self._key = ""
        self._value: Value | None = None
        self._quote = ""
        self._spaced = False

    def read(self, buffer: str, at: int, *, final: bool) -> None:
        """Goes on at `at`, as far as can be; `at` is then where more is needed, or where the tag ends."""
        self.at = at
        while not (self.done or self.broken):
            before = self.at
            if self._value is None:
                self._part(buffer, final=final)
            else:
                self._in_value(self._value, buffer, final=final)
            if self.at == before:
                break
        if self._value is None and (final or len(buffer) - self.at >= limits.TAG):
            self.broken = not self.done

    def _part(self, buffer: str, *, final: bool) -> None:
        """The next attribute, up to its value's opening quote; or the end of the tag."""
        part = _PART.match(buffer, self.at)
        if part is None:
            space_ends = _SPACE.match(buffer, self.at)
            rest = space_ends.end() if space_ends else self.at
            self.ran_out = rest == len(buffer) or (rest + 1 == len(buffer) and buffer[rest] == "/")
            self.broken = final or not self.ran_out
            return
        space, empty, end, key, _given, quote, bare = part.groups()
        if end:
            self.done, self.empty, self.at = True, bool(empty), part.end()
            return
        unsure = _UNSURE.match(buffer, part.end())
        if not quote and not final and (unsure is None or unsure.end() == len(buffer)):
            return  # a name or value of which there may be more
        if not (quote and space):
            self._flaw(f"<{self.name[:80]}> with attributes that are not well-formed")
        self.at, self._key = part.end(), key
        if quote:
            self._quote, self._value = quote, Value()
        else:
            value = attribute(bare or "")
            if len(value) > limits.VALUE:
                self.cut.append(key)
            self._keep(shortened(key, value))

    def _in_value(self, value: Value, buffer: str, *, final: bool) -> None:
        stop = buffer.find(self._quote, self.at)
        found = stop >= 0
        if not found:
            unfinished = None if final else UNFINISHED.search(buffer, max(self.at, len(buffer) - 12))
            stop = unfinished.start() if unfinished else len(buffer)
        piece = buffer[self.at : stop]
        if "<" in piece:
            self._flaw("`<` in an attribute")
        if wrong := flaw(piece):
            self._flaw(wrong)
        value.add(attribute(piece))
        self.at = stop
        self.ran_out = not found
        if found:
            self.at += 1
            if value.size > limits.VALUE:
                self.cut.append(self._key)
            self._keep(value.text(self._key))
            self._value = None

    def _keep(self, value: str) -> None:
        if self._key in self.attributes:
            self._flaw(f"<{self.name[:80]}> has an attribute twice")
        if self._key in self.attributes or len(self.attributes) < limits.ATTRIBUTES:
            self.attributes[self._key] = value

    def _flaw(self, message: str) -> None:
        if message not in self.flaws:
            self.flaws.append(message)
