"""Tests that came and tests that went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from flake_report.model.comparison import WeekTable
from flake_report.model.rate import Variant
from flake_report.model.results import TestId

_Place: TypeAlias = tuple[TestId, str, str]
"""A test in a pool. Sessions are left out: another command does not make another test."""


class Presence(NamedTuple):
    """Tests that are there for the first time, and tests that are there no more; each in order."""

    new: tuple[Variant, ...]
    vanished: tuple[Variant, ...]


def presence(table: WeekTable) -> Presence:
    """Who came in the newest week of a table, and who went.

    New are tests of the newest week that no week before it has; a skipped test is there. A test that ran before all
    that is known cannot be known; it counts as new when it comes back. Vanished are tests of their step's last week
    before the newest that the newest has not, though their step ran: a test is told in the week in which it is missed
    first.
    """
    newest, known = table.weeks[0], set(table.weeks)
    last_before = {
        pool: max(before)
        for pool, weeks in table.pools.items()
        if newest in weeks and (before := (weeks & known) - {newest})
    }
    seen = list(_by_place(table))
    return Presence(
        new=tuple(variant for variant, first, _last in seen if first == newest),
        vanished=tuple(
            variant for variant, _first, last in seen if last == last_before.get((variant.step, variant.queue))
        ),
    )


def _by_place(table: WeekTable) -> Iterator[tuple[Variant, str, str]]:
    """The first variant of each test in a pool, with the first and the last week in which any of them was seen."""
    places: dict[_Place, list[tuple[Variant, str, str]]] = defaultdict(list)
    for variant, (first, last) in zip(table.variants, table.seen, strict=True):
        if last:
            places[variant.test, variant.step, variant.queue].append((variant, first, last))
    for place in sorted(places):
        variants, firsts, lasts = zip(*places[place], strict=True)
        yield min(variants), min(firsts), max(lasts)
