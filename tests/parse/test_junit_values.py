"""Numbers and times in every spelling that JUnit writers use."""

from __future__ import annotations

import pytest

from flake_report.parse.junit_values import count, moment, seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("0", 0.0),
        (".5", 0.5),
        ("5.", 5.0),
        (" 2 ", 2.0),
        ("1.5s", 1.5),
        ("2.065e-05", 2.065e-05),
        ("1,234.56", 1234.56),
        ("12,345,678", 12345678.0),
        ("1.234,56", 1234.56),
        ("2503,1", 2503.1),
        ("-0.001", 0.0),
        ("-PT1S", 0.0),
        ("PT1M2.5S", 62.5),
        ("P1DT2H", 93600.0),
        ("01:02:03.5", 3723.5),
        ("NaN", None),
        ("inf", None),
        ("1e999", None),
        ("whatever", None),
        ("", None),
        ("1_000", None),
        ("٣", 3.0),
        ("9" * 50, None),
    ],
)
def test_a_duration_is_read(text: str, value: float | None) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00+00:00"),
        ("2026-11-20T10:00:00", "2026-11-20T10:00:00+00:00"),
        ("2026-11-20 10:00:00", "2026-11-20T10:00:00+00:00"),
        ("2026-11-20T12:00:00+02:00", "2026-11-20T10:00:00+00:00"),
        ("2026-11-20T10:00:00.1234567Z", "2026-11-20T10:00:00.123456+00:00"),
        ("2026-11-20T10:00:00.123456789+00:00", "2026-11-20T10:00:00.123456+00:00"),
        ("1641057782965", "2022-01-01T17:23:02.965000+00:00"),
        ("2026-11-20", "2026-11-20T00:00:00+00:00"),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        ("Fri, 20 Nov 2026 10:00:00 GMT", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("", None),
    ],
)
def test_a_time_stamp_is_read_as_utc(text: str, value: str | None) -> None:
    read = moment(text)
    assert (read.isoformat() if read else None) == value


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12), ("0", 0), ("", None), ("-1", None), ("1.5", None), ("²", None)]
)
def test_a_declared_count_is_read(text: str, value: int | None) -> None:
    assert count(text) == value
