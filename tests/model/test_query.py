"""How names are matched, in Python and in SQL alike."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.query import Glob, contains, label, node_id, of_test
from flake_report.store.sql import like

DUCK = duckdb.connect()
"""A connection of its own: the one that all share may be in the midst of another answer."""

TEXT = st.text(alphabet="ab*?%_!'[]\\.^\n ü", max_size=8)


@given(pattern=TEXT, name=TEXT)
def test_sql_and_python_match_the_same_names(pattern: str, name: str) -> None:
    found = DUCK.execute(f"SELECT {like('$name', Glob(pattern))}", {"name": name}).fetchone()
    assert found == (Glob(pattern).matches(name),)


@given(TEXT)
def test_a_plain_word_is_found_wherever_it_stands(word: str) -> None:
    if not set("*?") & set(word):
        assert contains(word).matches(f"before{word}after")


MATCHES = {
    "a part of the name": ("hma", "v1.test_hma::test_x"),
    "brackets are parameters": ("test_x[a-1]", "v1.test_hma::test_x[a-1]"),
    "a star for any text": ("v1.*::test_x[[]*]", "v1.test_hma::test_x[[]gemma]"),
    "a question mark for one character": ("*test_?", "v1.test_hma::test_x"),
    "pytest's node id": ("tests/v1/test_hma.py::test_x", "v1.test_hma::test_x"),
    "a node id below tests": ("v1/test_hma.py::test_x", "v1.test_hma::test_x"),
    "a node id with a class": ("v1/test_hma.py::TestA::test_x", "v1.test_hma.TestA::test_x"),
    "a node id with parameters that look like one": ("v1/t.py::test_x[a.py::b]", "v1.t::test_x[a.py::b]"),
    "a file": ("tests/v1/test_hma.py", "v1.test_hma::test_x"),
    "a file with a star": ("./tests/v1/*.py::test_x", "v1.test_hma::test_x"),
}


@pytest.mark.parametrize(("pattern", "name"), MATCHES.values(), ids=MATCHES.keys())
def test_a_pattern_finds_its_test(pattern: str, name: str) -> None:
    assert of_test(pattern).matches(name)


MISSES = {
    "case matters": ("TEST_X", "v1.test_hma::test_x"),
    "a glob must fit the whole name": ("test_*", "v1.test_hma::test_x"),
    "a dot is a dot": ("v1.test", "v1_test::test_x"),
    "brackets are no character class": ("test_[xy]", "v1.test_hma::test_x"),
    "another test of the file": ("v1/test_hma.py::test_y", "v1.test_hma::test_x"),
}


@pytest.mark.parametrize(("pattern", "name"), MISSES.values(), ids=MISSES.keys())
def test_a_pattern_leaves_other_tests_alone(pattern: str, name: str) -> None:
    assert not of_test(pattern).matches(name)


@pytest.mark.parametrize(
    ("label_text", "path"),
    [
        ("v1.kv.test_hma::test_x[a/b-1.5::c]", "v1/kv/test_hma.py::test_x[a/b-1.5::c]"),
        ("v1.test_x.TestA.TestB::test_y", "v1/test_x.py::TestA::TestB::test_y"),
        ("hooks_test::test_y", "hooks_test.py::test_y"),
        ("com.acme.LoginTest::works", "com.acme.LoginTest::works"),
        ("free text", "free text"),
    ],
    ids=["parameters stay as they are", "classes follow the module", "a module at the top", "no pytest", "no test"],
)
def test_a_label_leads_back_to_what_pytest_takes(label_text: str, path: str) -> None:
    assert node_id(label_text) == path
    if path != label_text:
        assert label(path) == label_text
