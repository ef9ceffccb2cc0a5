"""Text from strangers, made safe to print."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """The text with what would steer a terminal, or turn its reading order, spelt out; colours stay.

    Names and messages come from strangers' tests: a title, a cleared screen or a hidden character must not.
    """
    pieces = _COLOUR.split(text)
    pieces[::2] = [_UNSAFE.sub(lambda found: _spelt(found[0]), piece) for piece in pieces[::2]]
    return "".join(pieces)


def harmless_json(text: str) -> str:
    """The same for JSON, whose own escapes keep every character."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _spelt(char: str) -> str:
    return " " if char == "\t" else f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
