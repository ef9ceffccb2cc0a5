"""Tests that came and tests that went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TypeAlias

from flake_report.model.rate import Fleet, History, Variant
from flake_report.model.results import TestId

from .weeks import Calendar

_Place: TypeAlias = tuple[TestId, str, str]
"""A test in a pool. Sessions are left out: another command does not make another test."""


def new_variants(fleet: Fleet, calendar: Calendar) -> tuple[Variant, ...]:
    """Tests of the newest week that no build before it has, in order; a skipped test is there.

    A test that ran before the selected builds cannot be known; it counts as new when it comes back.
    """
    return tuple(
        min(history.variant for history in histories)
        for histories in _by_place(fleet)
        if all(calendar.places[order] == 0 for history in histories for order in _orders(history))
    )


def vanished_variants(fleet: Fleet, calendar: Calendar) -> tuple[Variant, ...]:
    """Tests of their step's last week before the newest that the newest has not, though their step ran; in order.

    A test is told in the week in which it is missed first.
    """
    last_before: dict[tuple[str, str], int] = {}
    for pool in fleet.pools:
        weeks = {int(calendar.places[order]) for order in pool.orders} - {-1}
        if 0 in weeks and len(weeks) > 1:
            last_before[pool.step, pool.queue] = min(weeks - {0})
    gone = []
    for histories in _by_place(fleet):
        variant = min(history.variant for history in histories)
        weeks = {int(calendar.places[order]) for history in histories for order in _orders(history)} - {-1}
        if weeks and min(weeks) == last_before.get((variant.step, variant.queue)):
            gone.append(variant)
    return tuple(gone)


def _by_place(fleet: Fleet) -> Iterator[list[History]]:
    places: dict[_Place, list[History]] = defaultdict(list)
    for history in fleet.histories:
        variant = history.variant
        places[variant.test, variant.step, variant.queue].append(history)
    yield from (places[place] for place in sorted(places))


def _orders(history: History) -> Iterator[int]:
    """The builds in which each thing that is told of a history began and ended."""
    for streak in (*history.passes, *history.skips):
        yield streak.first_order
        yield streak.last_order
    for run in history.runs:
        yield run.order
