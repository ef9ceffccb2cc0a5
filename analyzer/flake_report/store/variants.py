"""Variants among the columns of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from flake_report.model.rate import Variant
from flake_report.model.results import TestId

VARIANT = ("classname", "name", "apart", "step", "queue", "session_key")
"""The columns that name a variant."""


def variant(named: Sequence[str]) -> Variant:
    """The variant that a row names in these columns."""
    classname, name, apart, step, queue, session = named
    return Variant(TestId(classname, name, apart), step, queue, session)
