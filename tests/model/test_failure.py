"""What follows from a cause's numbers alone."""

from __future__ import annotations

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.failure import Blame, Captured, Cause


def cause(**captures: Captured) -> Cause:
    return Cause("free-memory-at-start", "t", Blame.GPU_MEMORY, 1, "text", "hint", captures=captures)


@pytest.mark.parametrize(("free", "total", "expected"), [(4.51, 22.05, 0.20), (10.93, 22.05, 0.49), (0.0, 22.71, 0.0)])
def test_the_largest_setting_for_a_known_failure(free: float, total: float, expected: float) -> None:
    assert cause(free_gib=free, total_gib=total, utilization=0.5).largest_utilization == expected


@given(total=st.integers(2**30, 2**38), free=st.integers(0, 2**38))
def test_the_largest_setting_never_asks_for_more_than_was_free(total: int, free: int) -> None:
    free = min(free, total)
    shown = cause(free_gib=round(free / 2**30, 2), total_gib=round(total / 2**30, 2), utilization=0.5)
    assert shown.largest_utilization is not None
    # vLLM's own rule, on bytes: it refuses when free < ceil(total x utilization).
    assert ceil(total * shown.largest_utilization) <= free


@pytest.mark.parametrize(
    "captures",
    [
        {"free_gib": 4.51, "total_gib": 22.05},
        {"free_gib": 4.51, "utilization": 0.5},
        {"free_gib": 30.0, "total_gib": 22.05, "utilization": 0.5},
        {"free_gib": 0.0, "total_gib": 0.0, "utilization": 0.5},
        {"free_gib": "much", "total_gib": 22.05, "utilization": 0.5},
    ],
    ids=["no setting", "no size of the card", "more free than there is", "a card of nothing", "a word"],
)
def test_numbers_that_are_none_of_a_refused_setting_give_no_advice(captures: dict[str, Captured]) -> None:
    assert cause(**captures).largest_utilization is None


def test_a_size_is_told_in_bytes() -> None:
    assert cause(free_gib=0.5).size("free") == 2**29
    assert cause(free_gib="much").size("free") is None
    assert cause().size("free") is None
