"""What a build is called, and the week that it counts in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from flake_report.model.evidence import Build, iso_week


def build(number: int | None, created_at: datetime) -> Build:
    return Build("acme", "ci", "f412f570b37e01b4", number, "c1", "main", "webhook", created_at, "failed")


SUNDAY_NIGHT = datetime(2026, 11, 8, 23, 30, tzinfo=UTC)


def test_a_build_is_called_by_its_number() -> None:
    assert build(812, SUNDAY_NIGHT).label == "build 812"
    assert build(0, SUNDAY_NIGHT).label == "build 0"


def test_a_build_of_a_plain_folder_is_called_by_its_time() -> None:
    assert build(None, SUNDAY_NIGHT).label == "build of 2026-11-08 23:30"
    assert build(None, SUNDAY_NIGHT.astimezone(timezone(timedelta(hours=9)))).label == "build of 2026-11-08 23:30"


WEEKS = {
    "the last hour of a week": (SUNDAY_NIGHT, "2026-W45"),
    "an hour later": (SUNDAY_NIGHT + timedelta(hours=1), "2026-W46"),
    "Monday already, in Tokyo alone": (datetime(2026, 11, 9, 8, tzinfo=timezone(timedelta(hours=9))), "2026-W45"),
    "a January day of the old year's last week": (datetime(2027, 1, 2, tzinfo=UTC), "2026-W53"),
    "a naive time, taken as UTC": (datetime(2026, 11, 9, 0), "2026-W46"),  # noqa: DTZ001  # naive on purpose
}


@pytest.mark.parametrize(("moment", "week"), WEEKS.values(), ids=WEEKS.keys())
def test_a_week_is_that_of_utc(moment, week) -> None:
    assert iso_week(moment) == week
    assert build(1, moment).week == week
