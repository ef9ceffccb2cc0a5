"""How a history is cut into parts that are counted one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple


class Span(NamedTuple):
    """A week, and the first and last place of the builds that have jobs in it."""

    week: str
    low: int
    high: int


class Part(NamedTuple):
    """Weeks that are counted together: the place of their first build, and how many attempts their files hold.

    `kept`: what they come to is kept for the next time.
    """

    weeks: list[str]
    base: int
    rows: int
    kept: bool = False


def cut(spans: Iterable[Span], rows: Mapping[str, int], *, at_once: int, kept_from: float) -> Iterator[Part]:
    """The weeks, given by first place, in parts of at most `at_once` attempts where weeks allow it.

    Weeks whose builds interleave come together: a build's time of creation can contradict its number, or change between
    two ingests. What has `kept_from` attempts comes alone, so that it is found again whatever the weeks around it hold.
    """
    joined: Part | None = None
    for cluster in _clusters(spans, rows, kept_from):
        if joined and not cluster.kept and joined.rows + cluster.rows <= at_once:
            joined = Part([*joined.weeks, *cluster.weeks], joined.base, joined.rows + cluster.rows)
            continue
        if joined:
            yield joined
        joined = None if cluster.kept else cluster
        if cluster.kept:
            yield cluster
    if joined:
        yield joined


def _clusters(spans: Iterable[Span], rows: Mapping[str, int], kept_from: float) -> Iterator[Part]:
    """The fewest weeks that share no stretch of builds with others."""
    weeks: list[str] = []
    base = reached = -1

    def cluster() -> Part:
        held = sum(rows.get(week, 0) for week in weeks)
        return Part(weeks, base, held, kept=held >= kept_from)

    for span in spans:
        if weeks and span.low > reached:
            yield cluster()
            weeks = []
        base = base if weeks else span.low
        weeks = [*weeks, span.week]
        reached = max(reached, span.high)
    if weeks:
        yield cluster()
