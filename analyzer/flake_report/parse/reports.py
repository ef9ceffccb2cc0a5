"""Any result file to attempts: what it is, is told by its bytes; its name is for messages alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from flake_report.model.results import Attempt, ParseWarning, ReportSummary

from . import limits
from .attempts_file import read_attempts
from .collector_json import read_collector
from .junit import read_small_xml, read_xml
from .records import nobody
from .sniff import Shape, shape_of


def read_report(name: str, chunks: Iterable[bytes], emit: Callable[[Attempt], None] | None) -> ReportSummary:
    """Reads a result file of any kind; `emit` is given each attempt, those of one test in order, numbered from 0.

    Without `emit` the file is only counted, with the same summary in less time.

    Never raises, whatever the bytes. The summary's `kind` is `junit`, `attempts`, `collector`, or for what holds no
    test results the name of what it seems to be; that is never `complete`.
    """
    head, chunks, whole = _head(iter(chunks))
    shape, kind = shape_of(head)
    if shape is Shape.XML:
        read = read_small_xml(head, emit) if whole else None
        return read or read_xml(chunks, emit)
    if shape is Shape.ATTEMPTS:
        return read_attempts(chunks, emit or nobody)
    if shape is Shape.LIST:
        return read_collector(chunks, emit or nobody)
    for _rest in chunks:  # a pipe must be drained
        pass
    ending = name.rpartition(".")[2].lower()
    hint = ", whatever its name says" if ending in ("xml", "jsonl") and kind != "empty" else ""
    message = "the file is empty" if kind == "empty" else f"no test report: {kind}{hint}"
    return ReportSummary(kind=kind, complete=False, warnings=(ParseWarning(message),))


def _head(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes], bool]:
    """The first block of the file, all of the file, and whether that is the same."""
    taken: list[bytes] = []
    size = 0
    for chunk in chunks:
        taken.append(chunk)
        size += len(chunk)
        if size > limits.BLOCK_BYTES:
            break
    head = taken[0] if len(taken) == 1 else b"".join(taken)
    return head, chain(taken, chunks), size <= limits.BLOCK_BYTES
