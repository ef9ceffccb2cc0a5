"""Which statements make which tables, and the tables that grow part by part."""

from __future__ import annotations

from dataclasses import fields

import pyarrow as pa

from .histories import Counts

_TEXT, _INT, _NUMBER, _FLAG = pa.string(), pa.int64(), pa.int32(), pa.bool_()
GROWING = {
    "bad": pa.schema(
        {
            **dict.fromkeys(("ingest", "ordinal"), _INT),
            **dict.fromkeys(("classname", "name", "apart", "session_key", "session", "worker"), _TEXT),
            **dict.fromkeys(("pid", "attempt"), _INT),
            **dict.fromkeys(("signature", "blame", "fingerprint"), _TEXT),
        }
    ),
    "results": pa.schema({"ingest": _INT, "attempts": _INT, "unknown": _INT}),
    "tests": pa.schema({"test": _NUMBER, **dict.fromkeys(("classname", "name", "apart", "session_key"), _TEXT)}),
    "files": pa.schema({"test": _NUMBER, "pool": _NUMBER, "file": _TEXT}),
    "streaks": pa.schema(
        {
            **dict.fromkeys(("test", "pool", "week_number", "state", "first_place", "last_place"), _NUMBER),
            "runs": _INT,
        }
    ),
    "told": pa.schema(
        {
            **dict.fromkeys(("test", "pool", "place"), _NUMBER),
            "verdict": _TEXT,
            **dict.fromkeys(("first_failed", "retried", "recovered", "victim"), _FLAG),
            **dict.fromkeys(("fingerprint", "signature", "agent", "job", "retry_type"), _TEXT),
        }
    ),
}
"""Tables that grow week by week; what a row means is said in the statement of the same name."""


COUNTED = (
    *("part_jobs", "paths", "met", "unnumbered", "tests", "tried", "numbered"),
    *("runs", "pieces", "telling", "files", "streaks", "told"),
)
"""The statements that a rollup of histories comes from."""

SELECTING = ("builds", "asked_weeks", "asked_jobs", "newest_jobs", "pool_names", "jobs")
"""The statements that select."""

HISTORIES = (*SELECTING, *COUNTED, "plain", "pools")
ANSWERED = tuple(each.name for each in fields(Counts))
HEALTH = (*SELECTING, "results", "health")
"""The statements behind each answer."""

PASSING = (
    *("part_jobs", "paths", "met", "tried", "runs", "pieces", "telling", "part_files", "part_streaks", "part_told"),
    *("tests", "files", "streaks", "told"),
)
"""The tables that nobody asks for when the histories are counted."""

KEPT = ("tests", "pools", "files", "streaks", "told")
"""The tables of a rollup of histories. `keep_….sql` makes them, in order; `join_….sql` joins them to those of the weeks
before, and `takeover.py` takes over one week's alone, in the order that they have.
"""

READ = ("builds", "jobs", "attempts")
"""The kinds of rows that these answers come from."""

FIRST = {
    **dict.fromkeys(("elsewhere", "failures", "struck", "traces"), ("bad",)),
    "orders": ("bad", "order_jobs"),
}
"""The tables that a statement reads beside those of the store, each made by the statement of its name."""
