"""Numbers and times as JUnit writers write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_ISO_DURATION = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)")
_EPOCH_MILLISECONDS = re.compile(r"\d{12,13}")
_FRACTION = re.compile(r"\.(\d+)")
_EPOCH_YEAR = 1970


def seconds(text: str) -> float | None:
    """A duration in seconds; None where there is none to be had (`NaN`, words). Negative ones, a clock set back, are 0.

    Read are `1.5`, `1.5s`, `1e-05`, `1,234.56` and `1.234,56` (the last mark is the decimal one), `2503,1` (a lone
    comma is a decimal one), `PT1M2.5S` and `01:02:03.5`.
    """
    if text.replace(".", "", 1).isdecimal() and len(text) < 40:
        return float(text)
    text = text.strip().removesuffix("s").rstrip()
    value = _number(text)
    if value is None:
        if found := _ISO_DURATION.fullmatch(text):
            sign, days, hours, minutes, rest = found.groups("0")
            value = int(days) * 86400 + int(hours) * 3600 + int(minutes) * 60 + float(rest)
            value = -value if sign == "-" else value
        elif found := _CLOCK.fullmatch(text):
            value = int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3])
    return None if value is None else max(0.0, value)


def many_seconds(texts: list[str]) -> list[float | None]:
    """`seconds` of each, fast where they are all written plainly."""
    if "".join(texts).replace(".", "").isdecimal():
        try:
            return list(map(float, texts))
        except ValueError:  # an empty one, or one with two points
            pass
    return [seconds(text) for text in texts]


def _number(text: str) -> float | None:
    if "," in text:
        text = text.replace(" ", "")
        if text.rfind(",") > text.rfind(".") and text.count(",") == 1:
            text = text.replace(".", "").replace(",", ".")
        else:
            text = text.replace(",", "")
    if len(text) > 40 or not _PLAIN.fullmatch(text):
        return None
    value = float(text)
    return value if value < float("inf") else None


def moment(text: str) -> datetime | None:
    """A time stamp as UTC; one without a zone is taken for UTC. None for no time, and for the zero of Go and others."""
    text = text.strip()
    if _EPOCH_MILLISECONDS.fullmatch(text):
        return datetime.fromtimestamp(int(text) / 1000, UTC)
    if len(text) < len("2026-01-01"):
        return None
    # Python takes up to six decimals of a second; .NET writes seven, Go nine.
    text = _FRACTION.sub(lambda found: f".{found[1][:6]}", text, count=1)
    try:
        read = datetime.fromisoformat(text)
        read = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return read if read.year > _EPOCH_YEAR else None


def count(text: str) -> int | None:
    """A declared number of tests; None where it is not one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
