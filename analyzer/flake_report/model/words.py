"""Words that more than one stage puts into sentences."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Any text on one line: white space of every kind, line ends too, is folded."""
    return " ".join(text.split())


def plural(count: int, noun: str) -> str:
    """`1 job`, `1,200 jobs`: a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
