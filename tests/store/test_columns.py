"""Columns of answers, as Python and numpy have them."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from flake_report.model.results import Outcome
from flake_report.store.columns import arrow, coded, numbers, records, texts, tuples, values

AT = datetime(2026, 11, 2, 3, 4, 5, 678901, tzinfo=UTC)


@pytest.fixture
def table() -> pa.Table:
    """Two chunks, with a null in each column that may have one."""
    own = duckdb.connect()  # the one that all share may be in the midst of another answer
    rows = own.sql(f"SELECT 7 AS n, 'x' AS text, TIMESTAMPTZ '{AT.isoformat()}' AS at, true AS flag")
    more = own.sql("SELECT 8 AS n, NULL::TEXT AS text, NULL::TIMESTAMPTZ AS at, false AS flag")
    return pa.concat_tables([rows.to_arrow_table(), more.to_arrow_table(), rows.to_arrow_table()])


def test_values_are_python_s_and_times_are_in_utc(table) -> None:
    assert values(table["at"]) == [AT, None, AT]
    assert values(table["text"]) == ["x", None, "x"]
    assert list(tuples(table, ("flag", "n"))) == [(True, 7), (False, 8), (True, 7)]
    assert list(records(table))[1] == {"n": 8, "text": None, "at": None, "flag": False}


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
def test_times_are_the_same_in_whatever_unit_an_engine_counts_them(unit) -> None:
    second = AT.replace(microsecond=0)
    told = pa.chunked_array([pa.array([second, None], pa.timestamp(unit, tz="Asia/Tokyo"))])
    assert values(told) == [second, None]


def test_numbers_and_truth_values_come_as_arrays(table) -> None:
    assert numbers(table["n"]).tolist() == [7, 8, 7]
    flags = numbers(table["flag"])
    assert (flags.dtype, flags.tolist()) == (np.bool_, [True, False, True])


@pytest.mark.parametrize("column", ["text", "n"])
def test_codes_find_the_value_of_each_row_and_null_is_one(table, column) -> None:
    codes, found = coded(table[column])
    assert [found[code] for code in codes.tolist()] == table[column].to_pylist()
    assert len(found) == 2


def test_codes_of_no_rows_are_none(table) -> None:
    codes, found = coded(table.slice(0, 0)["text"])
    assert (codes.tolist(), found) == ([], [])


@pytest.mark.parametrize("some", [[], ["a", "", "ü"]])
def test_texts_are_an_array_of_these(some) -> None:
    assert texts(some).to_pylist() == some


@pytest.mark.parametrize(
    ("some", "kind"),
    [([], np.int32), ([True, False, True] * 5, np.bool_), ([7, -1, 0], np.int32), ([1 << 31, -1], np.int64)],
)
def test_arrow_holds_what_numpy_does(some, kind) -> None:
    held = arrow(np.array(some, dtype=kind))
    held.validate(full=True)
    assert held.to_pylist() == some


ASK = """
import sys
from flake_report.store import bad, counting
counting.KEPT_ROWS = bad.KEPT_ROWS = 1
from datetime import timedelta
from flake_report.model.query import Query
from flake_report.store import Store
from flake_report.store import cost, incidents, machines, memory, order, tuning
def jobs(store, query):
    machines.job_places(machines.jobs_ran(store, query), own=["j1"])
for query in (Query(), Query(since=timedelta(days=1)), Query(since=timedelta(days=30))):
    store = Store.open(sys.argv[1])
    asked = [cost.spent_jobs, cost.job_failures, incidents.struck, jobs, machines.elsewhere]
    asked += [memory.memory_events, order.orders, order.traces, tuning.starts, tuning.held, Store.fleet, Store.health]
    for ask in asked:
        ask(store, query)
    store.window(query)
print(*({"pandas"} & set(sys.modules)))
"""


def test_no_question_loads_pandas_which_takes_longer_than_most(store, make) -> None:
    victim = make.attempt("v", Outcome.FAILED, blame="gpu-memory", signature="free-memory-at-start")
    store.ingest([make.record(make.build(at), make.job(f"j{at}"), make.attempt("a"), victim) for at in (1, 2, 3)])
    done = subprocess.run([sys.executable, "-c", ASK, store.address], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
