"""A history by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from flake_report.model.rate import History, WeekCount

from .likelihood import Counts
from .pieces import OWN, Piece


def trend(history: History, weeks: Sequence[str]) -> tuple[WeekCount, ...]:
    """The weeks in which the variant ran, oldest first; none where no run needed telling.

    `weeks` is the week of each build, by order.
    """
    if not history.runs:
        return ()
    runs: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    victims: Counter[str] = Counter()
    for streak in history.passes:
        runs[weeks[streak.first_order]] += streak.runs
    for run in history.runs:
        week = weeks[run.order]
        runs[week] += run.verdict in OWN
        failures[week] += run.first_failed
        victims[week] += run.victim
    return tuple(WeekCount(week, runs[week], failures[week], victims[week]) for week in sorted(runs))


def by_week(runs: Sequence[Piece], weeks: Sequence[str]) -> tuple[Counts, Counts]:
    """First-failed runs and runs of each week in which there are any, in no order."""
    failed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for piece in runs:
        week = weeks[piece.first]
        failed[week] += piece.outcome[0]
        total[week] += piece.size
    return np.array([failed[week] for week in total]), np.array(list(total.values()))
