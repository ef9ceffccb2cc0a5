"""What buildkite-test-collector writes with `--json`."""

from __future__ import annotations

import itertools
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.model.results import Attempt, Outcome, ReportSummary, TestId
from flake_report.parse.reports import read_report


def item(scope: str, name: str, result: str | None, **more: Any) -> dict[str, Any]:
    made = {
        "id": "1f07f2ad-0795-4932-8e4b-f917c77f37ec",
        "scope": scope,
        "name": name,
        "location": "tests/test_s.py:6",
        "file_name": "tests/test_s.py",
        "history": {"section": "top", "children": [], "start_at": 0.1, "end_at": 0.6, "duration": 0.5},
        **more,
    }
    return {**made, "result": result} if result else made


def read(*chunks: bytes) -> tuple[ReportSummary, list[Attempt]]:
    attempts: list[Attempt] = []
    return read_report("out.json", chunks, attempts.append), attempts


def test_a_test_is_the_same_as_in_junit_even_where_the_collector_cut_its_parameters() -> None:
    failed = item(
        "tests/test_s.py",
        "test_b",
        "failed",
        failure_reason="AssertionError: boom\nassert 1 == 2",
        failure_expanded=[{"expanded": [">   assert 1 == 2", "E   assert 1 == 2"], "backtrace": ["test_s.py:3"]}],
    )
    items = [
        item("tests/test_s.py::TestA::test_p[a", "b/c]", "passed"),
        failed,
        item("tests/test_s.py", "s", "skipped"),
    ]
    summary, attempts = read(json.dumps(items).encode())
    assert (summary.kind, summary.complete) == ("collector", True)
    assert (summary.cases, summary.passed, summary.failed, summary.skipped) == (3, 1, 1, 1)
    assert attempts[0].test == TestId("test_s.TestA", "test_p[a::b/c]")
    assert (attempts[1].outcome, attempts[1].seconds) == (Outcome.FAILED, 0.5)
    assert attempts[1].message == "AssertionError: boom\nassert 1 == 2"
    assert attempts[1].text == ">   assert 1 == 2\nE   assert 1 == 2"


def test_a_test_of_another_language_keeps_its_scope() -> None:
    _summary, [attempt] = read(
        json.dumps([item("Account", "is empty", "passed", file_name="./spec/a_spec.rb")]).encode()
    )
    assert attempt.test == TestId("Account", "is empty")


def test_tests_without_a_result_are_told_and_what_follows_is_unknown() -> None:
    items = [item("tests/test_s.py", "t", None), item("tests/test_s.py", "t", "passed")]
    summary, attempts = read(json.dumps(items).encode())
    assert [(attempt.outcome, attempt.known) for attempt in attempts] == [(Outcome.PASSED, False)]
    assert not summary.complete
    assert "without a result" in str(summary.warnings[0])


def test_a_list_that_is_cut_gives_its_whole_items_and_is_not_complete() -> None:
    items = [item("tests/test_s.py", "a", "passed"), item("tests/test_s.py", "b", "passed")]
    data = json.dumps(items).encode()
    for end in range(1 + len(json.dumps(items[0])), len(data)):
        summary, attempts = read(data[:end])
        assert (summary.complete, len(attempts)) == (False, 1 if end < len(data) - 1 else 2)


def test_a_list_of_other_things_is_no_report() -> None:
    summary, attempts = read(b'[{"a": 1}]')
    assert (summary.kind, summary.complete, attempts) == ("json", False, [])


@settings(deadline=None)
@given(st.lists(st.integers(0, 2000), max_size=6), st.integers(0, 6))
def test_any_chunking_gives_the_same_records(cuts: list[int], count: int) -> None:
    data = json.dumps([item("tests/test_s.py", f"t{n}", "passed") for n in range(count)], indent=1).encode()
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    assert read(*(data[start:end] for start, end in itertools.pairwise(places))) == read(data)


@settings(deadline=None)
@given(st.binary(max_size=100))
def test_any_bytes_after_a_bracket_are_read_without_an_exception(data: bytes) -> None:
    read(b"[" + data)


def test_a_large_list_is_read_in_pieces() -> None:
    data = json.dumps([item("tests/test_s.py", f"t{n}", "passed", pad="x" * 500) for n in range(2_000)]).encode()
    summary, attempts = read(data)
    assert (summary.cases, len(attempts), summary.complete) == (2_000, 2_000, True)
