"""Who came and who went, by the weeks in which a test and its step were seen."""

from __future__ import annotations

import pytest

from flake_report.model.comparison import WeekTable
from flake_report.model.rate import Variant
from flake_report.model.results import TestId
from flake_report.rate.presence import presence

WEEKS = ("2026-W48", "2026-W47", "2026-W46")


def week(number: int | None) -> str:
    return f"2026-W{number}" if number else ""


def table(*tests: tuple[str, int | None, int | None], ran: tuple[int, ...]) -> WeekTable:
    """A test by session, with the first and the last week in which each was seen; `ran` are the weeks of its step."""
    none = ((0,) * len(WEEKS),) * len(tests)
    return WeekTable(
        WEEKS,
        tuple(Variant(TestId("m", "t"), "unit", "q", session) for session, _, _ in tests),
        runs=none,
        first_failures=none,
        seen=tuple((week(first), week(last)) for _, first, last in tests),
        pools={("unit", "q"): frozenset(map(week, ran))},
    )


CASES = {
    "the newest week is its first": ([("a", 48, 48)], (46, 47, 48), "new"),
    "it was missed first in the newest week": ([("a", 46, 47)], (46, 47, 48), "vanished"),
    "it was missed before": ([("a", 46, 46)], (46, 47, 48), ""),
    "its step did not run the week before": ([("a", 46, 46)], (46, 48), "vanished"),
    "its step does not run any more": ([("a", 46, 47)], (46, 47), ""),
    "its step ran before all known weeks alone": ([("a", 20, 20)], (20, 48), ""),
    "it is always there": ([("a", 46, 48)], (46, 47, 48), ""),
    "nothing is known of it": ([("a", None, None)], (46, 47, 48), ""),
    "another command runs it": ([("a", 46, 47), ("b", 48, 48)], (46, 47, 48), ""),
}


@pytest.mark.parametrize(("tests", "ran", "told"), CASES.values(), ids=CASES.keys())
def test_a_test_is_new_or_vanished_where(tests, ran, told) -> None:
    found = presence(table(*tests, ran=ran))
    assert [name for name in ("new", "vanished") for _ in getattr(found, name)] == ([told] if told else [])


def test_a_test_of_two_steps_comes_and_goes_in_each_and_names_are_in_order() -> None:
    places = [("t", "b", 48, 48), ("t", "a", 46, 47), ("s", "b", 48, 48), ("s", "a", 48, 48)]
    none = ((0,) * len(WEEKS),) * len(places)
    variants = tuple(Variant(TestId("m", name), step, "q", "") for name, step, _, _ in places)
    seen = tuple((week(first), week(last)) for _, _, first, last in places)
    pools = {(step, "q"): frozenset(WEEKS) for step in "ab"}
    found = presence(WeekTable(WEEKS, variants, none, none, seen, pools))
    assert [(variant.test.name, variant.step) for variant in found.new] == [("s", "a"), ("s", "b"), ("t", "b")]
    assert [(variant.test.name, variant.step) for variant in found.vanished] == [("t", "a")]
