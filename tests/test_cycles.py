"""The search for cycles: put off, and afterwards as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from flake_report import cycles


@pytest.fixture
def threshold() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("before", "within"),
    [
        pytest.param((700, 10, 10), (cycles.SELDOM, 10, 10), id="as Python has it"),
        pytest.param((2 * cycles.SELDOM, 5, 5), (2 * cycles.SELDOM, 5, 5), id="seldom already"),
        pytest.param((0, 10, 10), (0, 10, 10), id="never"),
    ],
)
@pytest.mark.usefixtures("threshold")
def test_the_search_is_seldom_and_then_as_it_was(before: tuple[int, int, int], within: tuple[int, int, int]) -> None:
    gc.set_threshold(*before)
    with cycles.seldom_searched():
        assert gc.get_threshold() == within
    assert gc.get_threshold() == before


@pytest.mark.usefixtures("threshold")
def test_a_failure_on_the_way_leaves_it_as_it_was_too() -> None:
    gc.set_threshold(700, 10, 10)
    with pytest.raises(KeyError), cycles.seldom_searched():
        {}["missing"]
    assert gc.get_threshold() == (700, 10, 10)
