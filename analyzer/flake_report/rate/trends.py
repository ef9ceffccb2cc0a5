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
    found: dict[str, list[int]] = {}  # runs, failures, victims
    for streak in history.passes:
        found.setdefault(weeks[streak.first_order], [0, 0, 0])[0] += streak.runs
    for run in history.runs:
        counts = found.setdefault(weeks[run.order], [0, 0, 0])
        counts[0] += run.verdict in OWN
        counts[1] += run.first_failed
        counts[2] += run.victim
    return tuple(WeekCount(week, *found[week]) for week in sorted(found))


def by_week(runs: Sequence[Piece], weeks: Sequence[str]) -> tuple[Counts, Counts]:
    """First-failed runs and runs of each week in which there are any, in no order."""
    failed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for piece in runs:
        week = weeks[piece.first]
        failed[week] += piece.outcome[0]
        total[week] += piece.size
    return np.array([failed[week] for week in total]), np.array(list(total.values()))
