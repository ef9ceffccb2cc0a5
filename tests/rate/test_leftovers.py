"""The ledger of what tests left: parts that add up, and blame for nobody who gave back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.memory import GIB, Trace, TracePoint
from flake_report.rate.leftovers import Leftover, left_before, polluter


def points(*samples: tuple[str, float]) -> tuple[TracePoint, ...]:
    """`("a<", 0.5)`: before test a, 0.5 GiB are in use; `("a>", 2)`: after it, 2 GiB."""
    return tuple(TracePoint(name[:-1], name.endswith("<"), round(used * GIB)) for name, used in samples)


def told(found: tuple[Leftover, ...]) -> dict[str, float]:
    return {"+".join(one.tests): one.size / GIB for one in found}


@pytest.mark.parametrize(
    ("samples", "left"),
    [
        ([("a<", 0.5), ("a>", 11.5), ("b<", 11.5), ("b>", 11.5), ("v<", 11.5)], {"a": 11}),
        ([("a<", 0.5), ("a>", 11.5), ("b<", 0.5), ("b>", 0.5), ("v<", 0.5)], {}),
        ([("a<", 0), ("a>", 5), ("b<", 5), ("b>", 8), ("v<", 8)], {"a": 5, "b": 3}),
        ([("a<", 0), ("a>", 5), ("b<", 5), ("b>", 8), ("v<", 4)], {"a": 4}),
        ([("a<", 0), ("a>", 0), ("b<", 6), ("b>", 6), ("v<", 6)], {"": 6}),
        ([("a<", 0), ("b<", 0), ("b>", 7), ("a>", 7), ("v<", 7)], {"a+b": 7}),
        ([("a<", 0), ("b<", 3), ("b>", 7), ("a>", 7), ("v<", 7)], {"a": 3, "a+b": 4}),
        ([("a<", 2), ("a>", 2), ("v<", 2)], {}),
        ([("a<", 0), ("a>", 9)], {}),
        ([("v<", 9)], {}),
        ([("v<", 1), ("v>", 3), ("a<", 3), ("a>", 9), ("v<", 9)], {}),
    ],
    ids=[
        "one test left all",
        "given back before the victim began",
        "two tests left a part each",
        "the later one's part went away first",
        "it came between tests",
        "two tests ran at once",
        "one ran before the other began",
        "it was there from the start",
        "the victim was never sampled",
        "the victim was first",
        "the first attempt of the victim counts",
    ],
)
def test_what_is_left_belongs_to_what_ran_when_it_came(samples, left):
    assert told(left_before(points(*samples), "v")) == left


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 20)), max_size=12), st.integers(0, 20))
def test_the_parts_add_up_to_what_the_victim_found_less_what_never_went(samples, found):
    trace = (*(TracePoint(*one) for one in samples), TracePoint("v", True, found))  # noqa: FBT003  # a sample before v
    left = left_before(trace, "v")
    assert sum(one.size for one in left) == found - min(point.used for point in trace)
    assert all(one.size > 0 for one in left)


def test_a_polluter_is_one_test_that_left_more_than_a_context():
    clean = Trace("j", "cuda:1", points(("a<", 0), ("a>", 0.2), ("v<", 0.2)))
    full = Trace("j", "cuda:0", points(("a<", 0), ("a>", 9), ("v<", 9)))
    assert polluter([clean, full], {"v"}) == Leftover(("a",), 9 * GIB)
    assert polluter([clean], {"v"}) is None
    assert polluter([Trace("j", "cuda:0", points(("a<", 0), ("a>", 0.8), ("v<", 0.8)))], {"v"}) is None
    assert polluter([Trace("j", "cuda:0", points(("a<", 0), ("a>", 0), ("v<", 9)))], {"v"}) is None
    assert polluter([], {"v"}) is None


def test_the_first_victim_is_what_counts():
    trace = Trace("j", "cuda:0", points(("a<", 0), ("a>", 4), ("v<", 4), ("v>", 4), ("b<", 4), ("b>", 9), ("w<", 9)))
    assert polluter([trace], {"w", "v"}) == Leftover(("a",), 4 * GIB)
