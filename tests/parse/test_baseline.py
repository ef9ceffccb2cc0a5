"""The counts of an earlier export, read back."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.errors import FlakeReportError
from flake_report.model.comparison import WeekTable
from flake_report.model.rate import Variant
from flake_report.model.report import WeekTotal
from flake_report.model.results import TestId
from flake_report.parse.baseline import read_week_table, read_week_totals
from flake_report.parse.flakes import read_flakes
from flake_report.report.weekly import table_to_json

TABLE = WeekTable(
    weeks=("2026-W48", "2026-W47"),
    variants=(Variant(TestId("m", "a[</x>]"), "unit", "q", "pytest"), Variant(TestId("m", "b", "w1"), "unit", "q", "")),
    runs=((12, 3), (0, 0)),
    first_failures=((1, 0), (0, 0)),
    seen=(("2026-W40", "2026-W48"), ("", "")),
    pools={("unit", "q"): frozenset({"2026-W47", "2026-W48"})},
)


def damaged(**fields: object) -> bytes:
    return json.dumps({"week_counts": {**table_to_json(TABLE), **fields}}).encode()


def test_the_table_comes_back_as_it_was_written() -> None:
    assert read_week_table(damaged(), "report.json") == TABLE


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"{}", b'{"week_counts": 3}', b"[" * 100_000])
def test_what_holds_no_counts_is_refused(data: bytes) -> None:
    with pytest.raises(FlakeReportError, match=r"^r.json: holds no week_counts; give the folder that"):
        read_week_table(data, "r.json")


@pytest.mark.parametrize(
    "fields",
    [
        {"weeks": ["2026-W47", "2026-W48"]},
        {"weeks": ["2026-W48", "2026-W48"]},
        {"weeks": ["2026-W48"]},
        {"tests": [{"own_runs": [1, 2], "first_failures": [1, -2]}]},
        {"tests": [{"own_runs": [1, 2], "first_failures": "none"}]},
        {"tests": [{"own_runs": [1, 2], "first_failures": [0, 3]}]},
        {"weeks": ["b", "a"]},
    ],
    ids=[
        "weeks in the wrong order",
        "a week twice",
        "fewer weeks than counts",
        "a negative count",
        "no list",
        "more failures than runs",
        "no weeks",
    ],
)
def test_a_table_that_contradicts_itself_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(FlakeReportError, match="its week_counts are damaged; export the baseline again"):
        read_week_table(damaged(**fields), "r.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["schema", "tests", "week_counts", "weeks", "pools", "own_runs", "first_failures", "ways", "name"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(st.binary(max_size=50) | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_a_baseline_holds_it_is_read_or_refused_in_a_sentence(data: bytes) -> None:
    for read in (read_week_table, read_flakes):
        with contextlib.suppress(FlakeReportError):
            read(data, "x")


@given(JSON)
def test_whatever_stands_where_rows_should_be_reads_as_unknown(value: object) -> None:
    read_flakes(json.dumps({"schema": "flake-known/1", "tests": [{"ways": value, "name": value}, value]}).encode(), "x")


def test_the_weeks_of_an_export_come_back_and_one_that_is_not_whole_is_left_out() -> None:
    week = {
        "week": "2026-W47",
        "builds": 10,
        "runs": 143,
        "first_failures": 5,
        "victims": 1,
        "flaky": 2,
        "incidents": 3,
    }
    rows = [{**week, "hours": 0.5}, week, {**week, "hours": 1, "week": "next"}, {**week, "hours": 1, "runs": -1}, 7]
    found = read_week_totals(json.dumps({"weeks": rows}).encode())
    assert found == (WeekTotal("2026-W47", 10, 143, 5, 1, 2, 3, 0.5),)
    assert read_week_totals(b"{}") == read_week_totals(b"nothing") == ()
