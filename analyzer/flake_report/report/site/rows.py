"""The rows of the table of tests: the numbers of the report, and what a reader wants beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

from flake_report.model.comparison import WeekTable
from flake_report.model.rate import Variant
from flake_report.model.report import FlakeReport
from flake_report.model.story import Stories, Story
from flake_report.report.history import row
from flake_report.report.links import job_url

from .detail import key


@dataclass(frozen=True, slots=True)
class TestRow:
    """One variant. `numbers` are those of the report, by their stable names.

    `since` is the first week of the window in which a first attempt failed or the environment struck, `weeks` how many
    weeks ago that is, `own_since` the first in which it failed by itself; empty where there is none. `newest` is the
    page of the newest failing job, `said` the message there.
    """

    __test__ = False  # pytest would take the name for a test class

    key: str
    numbers: Mapping[str, Any]
    since: str
    weeks: int
    own_since: str
    newest: str
    said: str
    story: Story | None


def ranked(report: FlakeReport, stories: Stories) -> list[TestRow]:
    """All tests, worst first by the lower bound of their rate; of equals those that fail now, then the struck."""
    told = {story.rate.variant: story for story in stories.stories}
    before = _first_failures(report.counts)
    weeks = [week.week for week in report.weeks]
    rows = []
    for test in report.tests:
        numbers = cast("Mapping[str, Any]", row(test))
        own = [week.week for week in test.trend if week.first_failures][:1]
        own_since = min([*own, *([before[test.variant]] if test.variant in before else [])], default="")
        struck = [week.week for week in test.trend if week.victims][:1]
        since = min([*struck, *([own_since] if own_since else [])], default="")
        story = told.get(test.variant)
        newest, said = _newest(report, story) if story else ("", "")
        age = apart(since, weeks[-1]) if since and weeks else 0
        rows.append(TestRow(key(test.variant), numbers, since, age, own_since, newest, said, story))
    return sorted(rows, key=lambda one: (-one.numbers["rank_low"], -one.numbers["env_low"], not one.since))


def _first_failures(table: WeekTable) -> dict[Variant, str]:
    """The first week in which each variant failed, as far back as weeks are compared: a baseline reaches further."""
    return {
        variant: min(week for week, count in zip(table.weeks, counts, strict=True) if count)
        for variant, counts in zip(table.variants, table.first_failures, strict=True)
        if any(counts)
    }


def _newest(report: FlakeReport, story: Story) -> tuple[str, str]:
    """The page of the newest job in which it failed, and what it said there; an own failure before a victim's."""
    bad = [one for one in story.attempts if one.outcome.bad]
    own = [one for one in bad if not one.environment]
    for one in reversed(own or bad):
        return job_url(report.builds[one.order], one.job) or "", one.message[:MESSAGE]
    return "", ""


MESSAGE = 90
"""Characters of a message in the table."""


def apart(first: str, last: str) -> int:
    """Weeks between two ISO weeks such as `2026-W48`."""
    return (_monday(last) - _monday(first)).days // 7


def _monday(week: str) -> date:
    year, _, number = week.partition("-W")
    return date.fromisocalendar(int(year), int(number), 1)


@dataclass(frozen=True, slots=True)
class Choice:
    """One value to filter by, and how many tests have it."""

    value: str
    count: int


def choices(rows: Iterable[TestRow], name: str) -> Sequence[Choice]:
    """The values of one column, most frequent first; tests without one are no choice."""
    counted = Counter(one.numbers[name] for one in rows)
    return [
        Choice(value, count) for value, count in sorted(counted.items(), key=lambda each: (-each[1], each[0])) if value
    ]
