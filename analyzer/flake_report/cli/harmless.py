"""Text from strangers, made safe to print."""

from __future__ import annotations

import re

from flake_report.model.words import spelt, spelt_in_json

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")


def harmless(text: str) -> str:
    """The text with what would steer a terminal, or turn its reading order, spelt out; colours stay."""
    pieces = _COLOUR.split(text)
    pieces[::2] = [spelt(piece) for piece in pieces[::2]]
    return "".join(pieces)


def harmless_json(text: str) -> str:
    """The same for JSON, whose own escapes keep every character."""
    return spelt_in_json(text)
