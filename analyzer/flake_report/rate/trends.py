"""A history by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flake_report.model.evidence import Build
from flake_report.model.rate import History, WeekCount

from .pieces import OWN


def trend(history: History, builds: Sequence[Build]) -> tuple[WeekCount, ...]:
    """The weeks in which the variant ran, oldest first; none where no run needed telling."""
    if not history.runs:
        return ()
    runs: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    victims: Counter[str] = Counter()
    for streak in history.passes:
        runs[builds[streak.first_order].week] += streak.count
    for run in history.runs:
        week = builds[run.order].week
        runs[week] += run.verdict in OWN
        failures[week] += run.first_failed
        victims[week] += run.victim
    return tuple(WeekCount(week, runs[week], failures[week], victims[week]) for week in sorted(runs))
