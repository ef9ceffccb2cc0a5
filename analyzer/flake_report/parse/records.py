"""Attempts made fast: a report may hold hundreds of thousands, nearly all of them plain passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from flake_report.model.results import Attempt, TestId

_made = tuple.__new__
"""What a named tuple's own constructor calls; given to `map`, no line of Python runs for a row."""
_TEST, _SECONDS, _FILE, _KEY = map(Attempt._fields.index, ("test", "seconds", "file", "session_key"))


def alike(
    one: Attempt, classes: Sequence[str], names: Sequence[str], seconds: Sequence[float | None], files: Sequence[str]
) -> Iterator[Attempt]:
    """An attempt like `one` for each row of class, name, seconds and file, which have the same length."""
    columns: list[Iterable[Any]] = [repeat(value) for value in one]
    columns[_TEST] = map(_made, repeat(TestId), zip(classes, names, repeat(one.test.apart), strict=False))
    columns[_SECONDS] = seconds
    columns[_FILE] = files
    return map(_made, repeat(Attempt), zip(*columns, strict=False))


def keyed(attempt: Attempt, key: str) -> Attempt:
    """`attempt._replace(session_key=key)`, in half the time: all attempts of a job may need it."""
    return _made(Attempt, (*attempt[:_KEY], key, *attempt[_KEY + 1 :]))


def nobody(_attempt: Attempt) -> None:
    """Takes an attempt that is only counted."""
