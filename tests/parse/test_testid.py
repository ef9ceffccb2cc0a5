"""One test has one identity, however it is named."""

from __future__ import annotations

import pytest

from flake_report.model.results import TestId
from flake_report.parse.testid import PytestClasses, as_logged, file_of_nodeid, from_junit, from_nodeid


@pytest.mark.parametrize(
    ("nodeid", "classname", "name"),
    [
        ("tests/v1/x.py::TestA::t[p]", "v1.x.TestA", "t[p]"),
        ("v1/x.py::TestA::t[p]", "v1.x.TestA", "t[p]"),
        ("x.py::t", "x", "t"),
        ("tests/x.py::t[a::b/c[d]]", "x", "t[a::b/c[d]]"),
        ("tests/x.py::t[é.py]", "x", "t[é.py]"),
        ("tests/tests/x.py::t", "tests.x", "t"),
        ("latests/x.py::t", "latests.x", "t"),
        ("tests/x.py", "", "x"),
        ("x.py::Outer::Inner::t", "x.Outer.Inner", "t"),
        ("README.md::README.md", "README.md", "README.md"),
        ("x.py::t[\x1b]", "x", "t[#x1B]"),
        ("x.py::t[\ufffe]", "x", "t[#xFFFE]"),
        ("", "", ""),
    ],
)
def test_a_node_id_is_read_as_pytest_s_own_junit_writer_reads_it(nodeid: str, classname: str, name: str) -> None:
    assert from_nodeid(nodeid) == TestId(classname, name)


def test_junit_s_spelling_and_the_node_id_s_are_one_test() -> None:
    assert (
        from_junit("tests.v1.x.TestA", "t[p]")
        == from_junit("v1.x.TestA", "t[p]")
        == from_nodeid("v1/x.py::TestA::t[p]")
    )


def test_a_class_of_another_tool_keeps_its_name() -> None:
    assert from_junit("tests.Login", "works", pytest=False, apart="chrome") == TestId("tests.Login", "works", "chrome")


def test_the_file_is_the_part_before_the_first_colons() -> None:
    assert file_of_nodeid("tests/v1/x.py::TestA::t[a::b]") == "tests/v1/x.py"


def test_logs_know_of_no_worker() -> None:
    assert as_logged(TestId("x", "t", "gw1")) == TestId("x", "t")
    assert as_logged(TestId("x", "t")) == TestId("x", "t")


def test_classes_of_neighbours_are_one_text_and_what_a_single_case_s_class_is() -> None:
    classes = PytestClasses()
    given = [f"{folder}{at}" for at in range(1500) for folder in ("tests.v1.x", "v1.x", "tests.tests.x", "")]
    assert [classes[one] for one in given] == [from_junit(one, "t").classname for one in given]
    first, again = (classes[f"{folder}.v1.y"] for folder in ("tests", "tests"))
    assert first is again
    assert len(classes) <= 1000
