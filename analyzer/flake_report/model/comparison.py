"""One week against the weeks before it."""

from __future__ import annotations

from dataclasses import dataclass

from .rate import Interval, Variant


@dataclass(frozen=True, slots=True)
class Change:
    """One variant whose rate differs; `p_value` is after the allowance for week-to-week overdispersion."""

    variant: Variant
    now: Interval
    before: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class Comparisons:
    """What differs in the newest week; `untestable` variants have too few failures for any test to tell."""

    new: tuple[Variant, ...] = ()
    worse: tuple[Change, ...] = ()
    better: tuple[Change, ...] = ()
    vanished: tuple[Variant, ...] = ()
    untestable: int = 0


@dataclass(frozen=True, slots=True)
class AgentRate:
    """One agent host beside the others of its pool."""

    agent: str
    queue: str
    own: Interval
    p_value: float
