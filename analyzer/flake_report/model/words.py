"""Words that more than one stage puts into sentences."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\U000e0000-\U000e007f]"
)


def one_line(text: str) -> str:
    """Any text on one line: white space of every kind, line ends too, is folded."""
    return " ".join(text.split())


def plural(count: int, noun: str) -> str:
    """`1 job`, `1,200 jobs`: a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def spelt(text: str) -> str:
    """The text with what cannot be seen, and yet steers a terminal or turns the reading order, spelt out.

    Names and messages come from strangers' tests: a title, a cleared screen or a hidden character must not.
    """
    return _UNSAFE.sub(lambda found: _spelt(found[0]), text)


def spelt_in_json(text: str) -> str:
    """The same for JSON, whose own escapes keep every character."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _spelt(char: str) -> str:
    return " " if char == "\t" else f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
