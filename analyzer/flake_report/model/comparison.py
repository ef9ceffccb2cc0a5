"""One week against the weeks before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .rate import Interval, Variant


@dataclass(frozen=True, slots=True)
class Change:
    """One variant whose first-attempt failure rate differs; both rates are taken outside breakages.

    `p_value` allows for weeks that differ by themselves. `variants`: how many were counted together, 1 where rates are
    not pooled over parameters; then `variant` is named without them.
    """

    variant: Variant
    now: Interval
    before: Interval
    p_value: float
    variants: int = 1


@dataclass(frozen=True, slots=True)
class Comparisons:
    """What differs in `week`, the newest ISO week, against the `before` weeks before it that have builds.

    `new` ran for the first time; `vanished` ran in their step's last week before and not in this one, though their step
    ran. `untestable` variants ran in both but have too few failures, or runs, for any test to tell; `testable` ones
    do not. `pooled`: a week has so few runs that the parameters of a test are counted together, and all counts are of
    such tests. `icc` is how much weeks differ by themselves: the intraclass correlation of runs of one test and week.
    """

    new: tuple[Variant, ...] = ()
    worse: tuple[Change, ...] = ()
    better: tuple[Change, ...] = ()
    vanished: tuple[Variant, ...] = ()
    untestable: int = 0
    testable: int = 0
    week: str = ""
    before: int = 0
    pooled: bool = False
    icc: float = 0.0


@dataclass(frozen=True, slots=True)
class WeekTable:
    """What weeks are compared by, as an export carries it on to the next: counts a variant and week.

    `weeks` come newest first. `runs` (those with an own attempt) and `first_failures`, both outside breakages, have a
    row a variant and in it a value a week. `seen` are the first and the last week in which the variant had any result,
    skipped and victim ones too; empty where it had none. `pools` are the weeks in which each step and queue ran.
    """

    weeks: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    runs: tuple[tuple[int, ...], ...] = ()
    first_failures: tuple[tuple[int, ...], ...] = ()
    seen: tuple[tuple[str, str], ...] = ()
    pools: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
