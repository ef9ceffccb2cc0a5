"""Variants among the columns of an answer."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from flake_report.model.made import made
from flake_report.model.rate import Variant
from flake_report.model.results import TestId

from .columns import tuples, values

VARIANT = ("classname", "name", "apart", "step", "queue", "session_key")
"""The columns that name a variant."""


def variant(named: Sequence[str]) -> Variant:
    """The variant that a row names in these columns."""
    classname, name, apart, step, queue, session = named
    return Variant(TestId(classname, name, apart), step, queue, session)


def variants(rows: pa.Table) -> list[Variant]:
    """The variant of each row."""
    tests = made(TestId, tuples(rows, VARIANT[:3]))
    return list(made(Variant, zip(tests, *(values(rows[name]) for name in VARIANT[3:]), strict=True)))
