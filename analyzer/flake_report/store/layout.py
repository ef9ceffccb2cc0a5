"""The store on disk: one Delta table, and the columns that each kind of row has in it.

One table holds all kinds, partitioned by (kind, week), because one commit must make all rows of a job visible
together. The table's schema is the union of the kinds' columns; a file holds only its own kind's columns, and a
reader of the whole table sees null in the others, as Delta's rules say.

Which rows count. Nothing is ever overwritten: an ingest appends, and of several ingests of one job the last committed
counts. A writer cannot know its place in that order from a clock, so `jobs` and `builds` rows carry
`commit_version`, the number of the Delta commit that brought them; the writer sees to it that this is true
(see `commit`). All other rows find their jobs row by `ingest`, a number drawn at random once a job and ingest.
A row whose `ingest` belongs to no counting jobs row is superseded, and every reader leaves it out.

Nested values (captures, holders, sources, warning_texts) are JSON text: DuckDB, Spark and pandas all read it with what
they have at hand, and a new capture changes no schema. Times are UTC. Sizes are bytes. Absent is null, except for text
that is part of a key, where it is empty.
"""

from __future__ import annotations

import pyarrow as pa

LAYOUT = 2
"""Raised when an older program would misread the store, or when the table itself must be changed (see `upgrade`);
adding a nullable column does neither: rows of before have none, which reads as null.

1: the first. 2: names of merged files are kept for a day instead of a week, as they stand in every checkpoint.
"""

LAYOUT_KEY = "flake-report.layout"
"""The table property that holds the layout's version; a Delta table without it is somebody else's."""

PARTITIONS = ("kind", "week")

CONFIGURATION = {
    "delta.checkpointInterval": "10",
    "delta.deletedFileRetentionDuration": "interval 1 days",
    LAYOUT_KEY: str(LAYOUT),
}

_TEXT, _INT, _REAL, _BOOL = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_TIME = pa.timestamp("us", tz="UTC")

_EVERY = {"org": _TEXT, "pipeline": _TEXT, "build": _TEXT, "ingest": _INT}
_EVERY_OF_JOB = {**_EVERY, "job": _TEXT}

TABLES: dict[str, dict[str, pa.DataType]] = {
    "builds": {
        **_EVERY,
        "number": _INT,
        "commit": _TEXT,
        "branch": _TEXT,
        "source": _TEXT,
        "created_at": _TIME,
        "state": _TEXT,
        "commit_version": _INT,
    },
    "jobs": {
        **_EVERY_OF_JOB,
        "id": _TEXT,
        "step": _TEXT,
        "label": _TEXT,
        "queue": _TEXT,
        "agent": _TEXT,
        "host": _TEXT,
        "state": _TEXT,
        "exit_status": _INT,
        "signal_reason": _TEXT,
        "soft_failed": _BOOL,
        "attempt": _INT,
        "retry_type": _TEXT,
        "retry_of": _TEXT,
        "shard": _TEXT,
        "started_at": _TIME,
        "finished_at": _TIME,
        "command": _TEXT,
        "sources": _TEXT,
        "mode": _TEXT,
        "warnings": _INT,
        "warning_texts": _TEXT,
        "parser_version": _TEXT,
        "signatures_version": _TEXT,
        "fingerprint_version": _TEXT,
        "diagnosis_version": _TEXT,
        "commit_version": _INT,
    },
    "attempts": {
        **_EVERY_OF_JOB,
        "ordinal": _INT,  # place in the job's record, from 0: makes every order total
        "classname": _TEXT,
        "name": _TEXT,
        "apart": _TEXT,
        "file": _TEXT,
        "session": _TEXT,
        "session_key": _TEXT,
        "position": _INT,
        "pid": _INT,
        "worker": _TEXT,
        "attempt": _INT,
        "attempts_known": _BOOL,
        "outcome": _TEXT,
        "phase": _TEXT,
        "seconds": _REAL,
        "started_at": _TIME,
        "message": _TEXT,
        "fingerprint": _TEXT,
        "signature": _TEXT,
        "blame": _TEXT,
        "source": _TEXT,
    },
    "matches": {
        **_EVERY_OF_JOB,
        "signature": _TEXT,
        "blame": _TEXT,
        "line": _INT,
        "text": _TEXT,
        "test": _TEXT,
        "count": _INT,
        "captures": _TEXT,
        "diagnosis": _TEXT,
    },
    "memory": {
        **_EVERY_OF_JOB,
        "at": _TIME,
        "device": _TEXT,
        "free": _INT,
        "total": _INT,
        "used": _INT,
        "torch_reserved": _INT,
        "holders": _TEXT,
        "test": _TEXT,
        "when": _TEXT,
    },
    "engines": {
        **_EVERY_OF_JOB,
        "at": _TIME,
        "session": _TEXT,
        "test": _TEXT,
        "device": _TEXT,
        "utilization": _REAL,
        "requested": _INT,
        "free": _INT,
        "total": _INT,
        "weight": _INT,
        "activation": _INT,
        "non_torch": _INT,
        "kv": _INT,
        "outcome": _TEXT,
    },
}
"""What people see: a table a kind. `week` and `kind` come from the path. `id` of a job equals `job`."""


def file_schema(kind: str) -> pa.Schema:
    """The columns inside a file of one kind; the partition columns are in its path."""
    return pa.schema(TABLES[kind].items())


def table_schema() -> pa.Schema:
    """The union over all kinds, the partition columns first."""
    union = dict.fromkeys(PARTITIONS, _TEXT)
    for columns in TABLES.values():
        for name, kind in columns.items():
            if union.setdefault(name, kind) != kind:
                raise TypeError(f"column {name} has two types: {union[name]} and {kind}")
    return pa.schema(union.items())
