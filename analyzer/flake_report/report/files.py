"""A history as files: bytes for JSON, CSV, Parquet, OpenMetrics and JUnit, all from the same rows."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from flake_report.model.report import FlakeReport

from . import incidents
from .flakes import flakes_json
from .history import COLUMNS, row, to_json
from .known_junit import flakes_junit
from .metrics import metrics_prom


def report_json(report: FlakeReport) -> bytes:
    """The whole report; keys as `show --format json`."""
    return json.dumps(to_json(report), indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def tests_csv(report: FlakeReport) -> bytes:
    """One line a test variant."""
    return _csv(COLUMNS, map(row, report.tests))


def incidents_csv(report: FlakeReport) -> bytes:
    """One line an incident, newest first; `victims` is a list of tests."""
    return _csv(incidents.COLUMNS, map(incidents.to_json, report.incidents))


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """RFC 4180, UTF-8; what is a list of things is JSON in its cell, and what is not known is empty.

    A cell that a spreadsheet would run as a formula is led by an apostrophe: test names come from strangers.
    """
    lines: list[str] = []
    writer = csv.writer(_Lines(lines))
    writer.writerow(columns)
    for one in rows:
        writer.writerow([_cell(one[name]) for name in columns])
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
    "incidents.csv": incidents_csv,
    "metrics.prom": metrics_prom,
    "flakes.junit.xml": flakes_junit,
    "flakes.json": flakes_json,
}
"""What `export` writes: a new file is a new row."""


class _Lines:
    """The one method that the csv module asks of a file."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, line: str) -> int:
        self._lines.append(line)
        return len(line)


_RUN = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")  # their wide forms are run, too
"""How a cell begins that a spreadsheet may run: blanks before the sign do not stop every one of them."""


def _cell(value: object) -> object:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"'{value}" if isinstance(value, str) and _RUN.match(value) else value
