"""Words and lines for people."""

from __future__ import annotations

from datetime import datetime

from flake_report.model.words import one_line, plural

__all__ = ["one_line", "plural", "stamp"]


def stamp(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
