"""Patterns read into their parts, and what is refused."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.classify.pattern import Anchor, CharSet, Group, Literal, PatternError, parse_pattern


def test_literals_sets_groups_and_anchors_are_told_apart():
    items = parse_pattern(r"^a\s+[0-9](?P<x>b|c?)$").items
    assert items == (
        Anchor("^"),
        Literal("a"),
        CharSet(r"\s", 1, None),
        CharSet("[0-9]"),
        Group(((Literal("b"),), (Literal("c", 0, 1),))),
        Anchor("$"),
    )


@pytest.mark.parametrize(
    ("source", "low", "high"),
    [("ab*", 0, None), ("ab+?", 1, None), ("ab?", 0, 1), ("ab{3}", 3, 3), ("ab{2,}", 2, None), ("ab{2,5}", 2, 5)],
)
def test_quantifiers_are_bounds(source, low, high):
    assert parse_pattern(source).items[1] == Literal("b", low, high)


def test_a_leading_flag_makes_it_caseless():
    assert parse_pattern("(?i)abc").caseless
    assert not parse_pattern("abc").caseless


def test_an_escaped_mark_is_the_mark():
    assert parse_pattern(r"\[\.\]").items == (Literal("["), Literal("."), Literal("]"))


@pytest.mark.parametrize(
    "source",
    ["a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", r"(a)\1", "(?P<x>a)(?P=x)", "a++", "a(?s:b)", "a(", "a)", "[a", "a\\",
     "*a", r"a\p", "[é]", "a{600}", "(a+)+", "(a*)*", "(?:a|b+)*", r"(\s+\s*)+", "a[[]", "a[x--y]"],
)  # fmt: skip
def test_what_one_engine_does_not_take_or_what_explodes_is_refused(source):
    with pytest.raises(PatternError):
        parse_pattern(source)


@pytest.mark.parametrize("source", [r"(?:\s+Process \d+ has [\d.]+ GiB)*", r"(?:/[a-z]+)+", r"(?:a{1,3}b)+"])
def test_repeats_whose_rounds_are_told_apart_are_taken(source):
    assert parse_pattern(source).items


@given(st.text(alphabet="ab(|)[]{}*+?.^$\\sd1,:<>P=-!", max_size=20))
def test_what_is_taken_is_a_pattern_for_re_as_well(source):
    try:
        parse_pattern(source)
    except PatternError:
        return
    # the reader need not know what a class may hold, or that a name is doubled
    with suppress(re.error):
        re.compile(source)
        return
    with pytest.raises(re.error, match=r"range|redefinition|multiple repeat"):
        re.compile(source)
