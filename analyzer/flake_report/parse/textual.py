"""Whether bytes are text at all."""

from __future__ import annotations

_EXPECTED = frozenset({0x07, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x1B, *range(0x20, 0x7F)})
"""What logs are made of: printable ASCII, white space, and what terminals are steered with."""
_MOST_OTHERS = 0.3
"""Share of other characters beyond which it is no log: of random bytes about two in three are others."""


def is_text(head: bytes) -> bool:
    """Whether the first bytes of a file look like a log. Letters of any language do; empty bytes do."""
    shown = head.decode("utf-8", "replace")
    others = sum(1 for char in shown if char == "\ufffd" or (char < "\xa0" and ord(char) not in _EXPECTED))
    return others <= _MOST_OTHERS * len(shown)
