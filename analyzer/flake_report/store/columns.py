"""Columns of an answer as what Python and numpy work with, and back.

pyarrow's own ways load pandas, if it is there: which takes as long as a whole answer may.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; null is None, and a time is in UTC."""
    if not pa.types.is_timestamp(column.type):
        found: list[Any] = column.to_pylist()
        return found
    moments = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_pylist()
    return [None if moment is None else _EPOCH + timedelta(microseconds=moment) for moment in moments]


def tuples(table: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, of each these columns."""
    return zip(*(values(table[name]) for name in columns), strict=True)


def records(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table, by names of columns."""
    return (dict(zip(table.column_names, row, strict=True)) for row in tuples(table, table.column_names))


def numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of numbers, or of truth values, without null; not to be written to."""
    if pa.types.is_boolean(column.type):
        return numbers(column.cast(pa.uint8())).astype(np.bool_)
    return np.from_dlpack(column.combine_chunks())


def arrow(column: NDArray[Any]) -> pa.Array:
    """Numbers, or truth values, as Arrow holds them; `pa.array` would load pandas."""
    if column.dtype == np.bool_:
        return pa.Array.from_buffers(
            pa.bool_(), len(column), [None, pa.py_buffer(np.packbits(column, bitorder="little"))]
        )
    kind = pa.from_numpy_dtype(column.dtype)
    return pa.Array.from_buffers(kind, len(column), [None, pa.py_buffer(np.ascontiguousarray(column))])


def texts(some: Collection[str]) -> pa.Array:
    """These texts as one array."""
    encoded = [each.encode() for each in some]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return pa.LargeStringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[Any]]:
    """For each row a number from 0, which is the place of its value among all that there are."""
    found = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return numbers(pa.chunked_array([found.indices])), found.dictionary.to_pylist()
