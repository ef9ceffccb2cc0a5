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
    """One line a test variant, RFC 4180, UTF-8; what is a list of things is JSON in its cell.

    A cell that a spreadsheet would run as a formula is led by an apostrophe: test names come from strangers.
    """
    lines: list[str] = []
    writer = csv.writer(_Lines(lines))
    writer.writerow(COLUMNS)
    for test in report.tests:
        writer.writerow([_cell(value) for value in row(test).values()])
    return "".join(lines).encode("utf-8", "replace")


def tests_parquet(report: FlakeReport) -> bytes:
    """One row a test variant, columns as in the CSV."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, count, share = pa.string(), pa.int64(), pa.float64()
    build = pa.struct({"build": text, "commit": text, "url": text})
    bounds = dict.fromkeys(("first", "last", "good", "mended", "earliest", "latest"), build)
    counted = {"runs": count, "failed": count, "url": text, "fingerprint": text, "signature": text}
    typed = {
        **dict.fromkeys(_COUNTS, count),
        **dict.fromkeys(_SHARES, share),
        "also_flaky": pa.bool_(),
        "unsteady": pa.bool_(),
        "trend": pa.list_(pa.struct({"week": text, "runs": count, "first_failures": count, "victims": count})),
        "breakages": pa.list_(pa.struct({**bounds, **counted})),
    }
    schema = pa.schema([(name, typed.get(name, text)) for name in COLUMNS])
    table = pa.Table.from_pylist([row(test) for test in report.tests], schema=schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


_COUNTS = (
    "runs", "own_runs", "first_failures", "flaky_runs", "victim_runs",
    "retried", "retried_in_session", "retried_automatic", "retried_manual", "recovered",
)  # fmt: skip
_SHARES = (
    "rate", "low", "high", "rank_low", "over_budget", "recovery_rate", "recovery_low", "recovery_high",
    "env_rate", "env_low", "env_high",
)  # fmt: skip

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


def _cell(value: object) -> object:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"'{value}" if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value
