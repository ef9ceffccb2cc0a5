"""Attempts made fast: a report may hold hundreds of thousands, nearly all of them plain passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from flake_report.model.results import Attempt, TestId

_made = tuple.__new__
"""What a named tuple's own constructor calls; given to `map`, no line of Python runs for a row."""
_TESTS, _ATTEMPTS = repeat(TestId), repeat(Attempt)
_TEST, _SECONDS, _FILE, _KEY = map(Attempt._fields.index, ("test", "seconds", "file", "session_key"))


class Alike:
    """Makes attempts like one that is given, but for class, name, seconds and file."""

    def __init__(self, one: Attempt) -> None:
        self._columns: list[Iterable[Any]] = [repeat(value) for value in one]
        self._apart = repeat(one.test.apart)

    def rows(
        self, classes: Sequence[str], names: Sequence[str], seconds: Sequence[float | None], files: Sequence[str]
    ) -> Iterator[Attempt]:
        """One for each row; these columns have the same length."""
        columns = self._columns
        columns[_TEST] = map(_made, _TESTS, zip(classes, names, self._apart, strict=False))
        columns[_SECONDS], columns[_FILE] = seconds, files
        return map(_made, _ATTEMPTS, zip(*columns, strict=False))


def keyed(attempt: Attempt, key: str) -> Attempt:
    """`attempt._replace(session_key=key)`, in half the time: all attempts of a job may need it."""
    return _made(Attempt, (*attempt[:_KEY], key, *attempt[_KEY + 1 :]))


def nobody(_attempt: Attempt) -> None:
    """Takes an attempt that is only counted."""
