"""Artifact patterns; the answers follow Buildkite's documented globs."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.collect.globs import matches_any
from flake_report.model.config import CollectConfig


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("junit.xml", True),
        ("junit-0196.xml", True),
        ("a/b/TEST-junit-1.xml", True),
        ("test-results/a.xml", True),
        ("build/test-results/test/TEST-A.xml", True),
        ("attempts-0196-1.jsonl", True),
        ("out/attempts-0196-1.jsonl", True),
        ("out\\junit.xml", True),
        ("./junit.xml", True),
        ("coverage.xml", False),
        ("test-results.xml", False),
        ("junit.xml.png", False),
        ("JUnit.xml", False),
    ],
)
def test_the_default_patterns_bring_results_and_leave_the_rest(path: str, wanted: bool) -> None:  # noqa: FBT001  # a table
    assert matches_any(path, CollectConfig().artifacts) is wanted


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("*.xml", ["a.xml"], ["a/b.xml", "a.xmlx"]),
        ("**/*.xml", ["a.xml", "a/b.xml", "a/b/c.xml"], ["xml"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb"]),
        ("a?.x", ["ab.x"], ["a/.x", "a.x"]),
        ("[x].xml", ["[x].xml"], ["x.xml"]),
        ("a+b.xml", ["a+b.xml"], ["aab.xml"]),
    ],
)
def test_stars_within_and_over_folders(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    assert all(matches_any(path, [pattern]) for path in fits)
    assert not any(matches_any(path, [pattern]) for path in fits_not)


@given(st.text("ab.*?", max_size=6), st.text("ab.", max_size=6))
def test_without_folders_a_pattern_is_that_of_the_shell(pattern: str, name: str) -> None:
    if "**" not in pattern and not name.startswith("./"):
        assert matches_any(name, [pattern]) == fnmatch.fnmatchcase(name, pattern)


def test_no_patterns_want_nothing() -> None:
    assert not matches_any("junit.xml", [])
