"""Words for counts."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """`1 job`, `1,200 jobs`: a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
