"""The counting statements, a file each: the part of SQL that DuckDB and Spark both speak, and read alike.

Each file says what one row of its answer means. Week is a column; there is no strftime, no hash(), no ordered list.
Holes such as `{branch}` take conditions made by `like` and `since`, never text of strangers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from flake_report.model.query import Glob


def statement(name: str, **holes: str) -> str:
    """The text of `<name>.sql` with its holes filled; a hole that is not named stays unlimited."""
    return _text(name).format_map(_Open(holes))


def asks_for_tests(name: str) -> bool:
    """Whether the statement has a hole for the tests that are asked for; else it tells of all."""
    return "{test}" in _text(name)


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")


class _Open(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "true"


def like(expression: str, glob: Glob | None) -> str:
    """A condition: the whole text fits the pattern. Quotes are doubled, so a pattern is never more than a text."""
    if glob is None:
        return "true"
    return f"{expression} LIKE {quoted(glob.like)} ESCAPE '!'"


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def moment(expression: str, compare: str, at: datetime | None) -> str:
    """A condition on a time, `compare` being `>=` or `<`. A naive time is taken as UTC."""
    if at is None:
        return "true"
    utc = at.astimezone(UTC) if at.tzinfo else at
    return f"{expression} {compare} TIMESTAMP '{utc:%Y-%m-%d %H:%M:%S.%f}+00:00'"
