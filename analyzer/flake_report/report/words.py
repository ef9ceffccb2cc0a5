"""Words and lines for people."""

from __future__ import annotations

from flake_report.model.words import one_line, plural

__all__ = ["one_line", "plural"]
