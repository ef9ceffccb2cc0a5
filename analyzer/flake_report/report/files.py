"""A history as files: bytes for JSON, CSV and Parquet, all from the same rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable

from flake_report.model.report import FlakeReport

from .history import COLUMNS, row, to_json


def report_json(report: FlakeReport) -> bytes:
    """The whole report; keys as `show --format json`."""
    return json.dumps(to_json(report), indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def tests_csv(report: FlakeReport) -> bytes:
    """One line a test variant, RFC 4180, UTF-8.

    A cell that a spreadsheet would run as a formula is led by an apostrophe: test names come from strangers.
    """
    lines: list[str] = []
    writer = csv.writer(_Lines(lines))
    writer.writerow(COLUMNS)
    for test in report.tests:
        writer.writerow([_inert(value) for value in row(test).values()])
    return "".join(lines).encode("utf-8", "replace")


def tests_parquet(report: FlakeReport) -> bytes:
    """One row a test variant, columns as in the CSV."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, count, share = pa.string(), pa.int64(), pa.float64()
    counts = {"runs", "own_runs", "first_failures", "victim_runs"}
    shares = {"rate", "low", "high", "rank_low", "env_rate", "env_low", "env_high"}
    types = {name: count if name in counts else share if name in shares else text for name in COLUMNS}
    table = pa.Table.from_pylist([row(test) for test in report.tests], schema=pa.schema(types.items()))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


FILES: dict[str, Callable[[FlakeReport], bytes]] = {
    "report.json": report_json,
    "tests.csv": tests_csv,
    "tests.parquet": tests_parquet,
}
"""What `export` writes: a new file is a new row."""


class _Lines:
    """The one method that the csv module asks of a file."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, line: str) -> int:
        self._lines.append(line)
        return len(line)


def _inert(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value
