"""Times as the attempts file writes them."""

from __future__ import annotations

from datetime import datetime, timezone


def rfc3339(seconds: float) -> str:
    """Seconds since the epoch as RFC 3339 in UTC, to the microsecond."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def session_id(seconds: float, pid: int) -> str:
    """The name of a session: its start in UTC and its pid, fit for a file name and sorting by time."""
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y%m%dT%H%M%S.%fZ}-{pid}"
