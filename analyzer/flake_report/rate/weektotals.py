"""All tests together, week by week."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from flake_report.model.config import QueueConfig
from flake_report.model.cost import JobFailure, SpentJob
from flake_report.model.evidence import Build
from flake_report.model.incident import Incident
from flake_report.model.rate import FlakeRate, Fleet
from flake_report.model.report import WeekTotal
from flake_report.model.verdict import TestVerdict

from .cost import Excuses, cost
from .weeks import Calendar, week_counts


def week_totals(
    fleet: Fleet, tests: Iterable[FlakeRate], incidents: Iterable[Incident], hours: Mapping[str, float]
) -> tuple[WeekTotal, ...]:
    """The newest weeks that are compared with each other, oldest first; `hours` as `hours_by_week` has them."""
    calendar = Calendar.of(fleet.builds)
    runs = week_counts(fleet, {}, calendar).runs.sum(axis=0).tolist()  # no segments: breakages are counted too
    builds = Counter(build.week for build in fleet.builds)
    struck = Counter(incident.build.week for incident in incidents)
    failures: Counter[str] = Counter()
    victims: Counter[str] = Counter()
    flaky: Counter[str] = Counter()
    for test in tests:
        for week in test.trend:
            failures[week.week] += week.first_failures
            victims[week.week] += week.victims
            flaky[week.week] += test.verdict is TestVerdict.FLAKY and week.first_failures > 0
    return tuple(
        WeekTotal(
            week=week,
            builds=builds[week],
            runs=ran,
            first_failures=failures[week],
            victims=victims[week],
            flaky=flaky[week],
            incidents=struck[week],
            hours=hours.get(week, 0.0),
        )
        for week, ran in reversed(list(zip(calendar.weeks, runs, strict=True)))
    )


def hours_by_week(
    jobs: Iterable[SpentJob],
    failures: Iterable[JobFailure],
    excuses: Excuses,
    queues: Mapping[str, QueueConfig],
    builds: Sequence[Build],
) -> dict[str, float]:
    """GPU-hours lost in each week: a retry belongs to the build of what it retried, so no week needs another."""
    spent: dict[str, list[SpentJob]] = defaultdict(list)
    failed: dict[str, list[JobFailure]] = defaultdict(list)
    for job in jobs:
        spent[builds[job.order].week].append(job)
    for failure in failures:
        failed[builds[failure.order].week].append(failure)
    return {week: cost(mine, failed[week], excuses, queues).hours for week, mine in spent.items()}
