"""Many named tuples at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, TypeVar

_Named = TypeVar("_Named", bound=tuple[Any, ...])


def made(kind: type[_Named], rows: Iterable[tuple[Any, ...]]) -> Iterator[_Named]:
    """Named tuples of this kind, of rows that have all its fields in their order.

    What `_make` does with one row, for tens of thousands in a third of the time; it does not count the fields.
    """
    return map(tuple.__new__, repeat(kind), rows)
