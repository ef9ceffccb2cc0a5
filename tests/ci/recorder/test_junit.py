"""The JUnit file that is made of an attempts file: readable by others, each test once."""

from __future__ import annotations

import json
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from gpu_guard.recorder.junit import case_names, document, write_junit

SESSION = {"session": "s-1", "job": "", "started_at": "2026-11-30T12:00:00.000000Z", "host": "h"}


def line(nodeid: str, outcome: str, attempt: int = 0, **more: object) -> dict[str, object]:
    return {"nodeid": nodeid, "attempt": attempt, "outcome": outcome, "seconds": 0.25, **more}


def test_another_reader_counts_the_same(tmp_path):
    lines = [
        line("t/a.py::ok", "passed"),
        line("t/a.py::bad", "failed", message="ValueError: no", traceback="trace"),
        line("t/a.py::flaky", "failed", message="ValueError: once"),
        line("t/a.py::flaky", "passed", 1),
        line("t/a.py::dead", "crashed", message="worker 'gw0' crashed"),
        line("t/a.py::skip", "skipped", message="not today"),
        line("t/a.py::expected", "xfailed"),
        line("t/b.py", "error", phase="collect", message="ImportError: x"),
    ]
    attempts = tmp_path / "attempts-x.jsonl"
    rows = [SESSION, *lines, {"finished_at": "2026-11-30T12:00:01Z", "exit_status": 1}]
    attempts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_junit(attempts, tmp_path / "junit-x.xml")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    (suite,) = JUnitXml.fromfile(str(tmp_path / "junit-x.xml"))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped, suite.time) == (7, 1, 2, 2, 2.0)
    kinds = {case.name: [type(result).__name__ for result in case.result] for case in suite}
    assert kinds == {
        "ok": [], "bad": ["Failure"], "flaky": [], "dead": ["Error"], "skip": ["Skipped"], "expected": ["Skipped"],
        "t.b": ["Error"],
    }  # fmt: skip


def test_facts_that_junit_has_no_place_for_are_properties():
    tuned = {"from": 0.9, "to": 0.3, "free": 7, "total": 22}
    text = "".join(document(SESSION, [line("a.py::t", "passed", leak={"bytes": 5}, tuned=tuned)]))
    found = {item.get("name"): item.get("value") for item in fromstring(text.encode()).iter("property")}  # our own text
    assert found["gpu_guard.leak_bytes"] == "5"
    assert found["gpu_guard.tuned"] == "0.9 -> 0.3 (free 7 of 22 bytes)"


@pytest.mark.parametrize(
    ("nodeid", "names"),
    [
        ("tests/v1/x.py::TestA::t[p]", ("tests.v1.x.TestA", "t[p]")),
        ("x.py::t[a/b::c.py]", ("x", "t[a/b::c.py]")),
        ("tests/x.py", ("", "tests.x")),
    ],
)
def test_names_are_those_that_pytest_writes(nodeid, names):
    assert case_names(nodeid) == names


def test_names_equal_pytests_own_file(runner):
    text = """
import pytest
class TestA:
    @pytest.mark.parametrize("x", ["a::b", "c/d.py", "[", "é\\x1b"])
    def test_it(self, x): pass
def test_plain(): pass
"""
    run = runner.run({"tests/deep/test_it.py": text}, "--junitxml=theirs.xml")
    theirs = fromstring((runner.folder / "theirs.xml").read_bytes())  # pytest's own file
    ours = {(case.get("classname"), case.get("name")) for case in run.junit.values()}
    assert ours == {(case.get("classname"), case.get("name")) for case in theirs.iter("testcase")}


@given(message=st.text(), traceback=st.text(), name=st.text(min_size=1))
def test_any_text_makes_a_file_that_can_be_read(message, traceback, name):
    lines = [line(f"a.py::{name}", "failed", message=message, traceback=traceback), line(f"a.py::{name}", "failed", 1)]
    case = next(fromstring("".join(document(SESSION, lines)).encode("utf-8", "replace")).iter("testcase"))
    assert [child.tag for child in case if child.tag != "properties"] == ["failure", "rerunFailure"]
