"""Text that may be of any size, of which the beginning and the end are kept."""

from __future__ import annotations

from . import limits
from .xmltext import plain


class Excerpt:
    """Collects pieces of one text, as written; references are resolved when the text is asked for."""

    __slots__ = ("_cut", "_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: list[tuple[str, bool]] = []
        self._size = 0
        self._cut = 0

    def add(self, piece: str, *, literal: bool) -> None:
        """A further piece; `literal` for one that holds no references, as in CDATA."""
        if len(piece) > 2 * limits.TEXT:
            self._cut += len(piece) - 2 * limits.TEXT
            self._pieces += [(piece[: limits.TEXT], literal), (piece[-limits.TEXT :], literal)]
            self._size += 2 * limits.TEXT
        else:
            self._pieces.append((piece, literal))
            self._size += len(piece)
        if self._size > 4 * limits.TEXT:
            text = self._joined()
            self._cut += len(text) - 2 * limits.TEXT
            self._pieces = [(text[: limits.TEXT], True), (text[-limits.TEXT :], True)]
            self._size = 2 * limits.TEXT

    def text(self) -> str:
        """What was kept, with a line in place of what was cut."""
        text = self._joined()
        return clip(text, already=self._cut) if self._cut or len(text) > limits.TEXT else text

    def _joined(self) -> str:
        return "".join([piece if literal else plain(piece) for piece, literal in self._pieces])


def clip(text: str, *, limit: int = limits.TEXT, already: int = 0) -> str:
    """Text of at most about `limit` characters: its first and last lines, and how much is missing between.

    `already` is what was cut from its middle before.
    """
    half = limit // 2
    cut = len(text) - 2 * half + already
    if cut <= 0:
        return text
    return f"{text[:half]}\n[... {cut:,} characters cut ...]\n{text[-half:]}"
