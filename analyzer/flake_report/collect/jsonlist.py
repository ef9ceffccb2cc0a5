"""A JSON list, element by element: a page of builds with all their jobs may be a hundred megabytes."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Any

_WHITE = " \t\n\r"


def elements(chunks: Iterable[bytes]) -> Iterator[Any]:
    """The elements of the list in UTF-8 `chunks`; memory holds one at a time, and half as much again to find its end.

    They are objects, lists or strings: a number at the end of a chunk could not be told from its beginning.
    Raises ValueError, after the elements before it, where the text is no JSON list or is cut short.
    """
    reader = _Reader(chunks)
    if reader.peek() != "[":
        raise ValueError("no JSON list")
    reader.skip()
    if reader.peek() == "]":
        reader.skip()
    else:
        while True:
            yield reader.element()
            mark = reader.peek()
            reader.skip()
            if mark == "]":
                break
            if mark != ",":
                raise ValueError("a JSON list that breaks off")
    if reader.peek():
        raise ValueError("text after the end of a JSON list")


class _Reader:
    """Text that is read as far as it is needed."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._parse = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _WHITE:
                self._at += 1
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def skip(self) -> None:
        self._at += 1

    def element(self) -> Any:
        self.peek()
        while True:
            try:
                value, self._at = self._parse(self._text, self._at)
            except RecursionError as error:
                raise ValueError("nested too deeply") from error
            except json.JSONDecodeError:
                if not self._more():
                    raise
            else:
                return value

    def _more(self) -> bool:
        """Read as much again as is held, so that a long element is tried a few times only; False at the end."""
        self._text, self._at = self._text[self._at :], 0
        wanted = max(2 * len(self._text), 1)
        parts = [self._text]
        held = len(self._text)
        for chunk in self._chunks:
            parts.append(self._decode.decode(chunk))
            held += len(parts[-1])
            if held >= wanted:
                break
        else:
            parts.append(self._decode.decode(b"", final=True))
        grown = "".join(parts)
        more, self._text = len(grown) > len(self._text), grown
        return more
