"""When a line was written, where a stamp says so."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_STAMP = re.compile(
    rb"\x1b_bk;t=(?P<ms>\d{12,13})[;\x07]"
    rb"|^\[?(?P<text>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?P<part>\.\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)[\] ]"
)


def stamp(line: bytes) -> datetime | None:
    """The first stamp of a raw line, in UTC: the agent's milliseconds, or the text that a log collector put first."""
    found = _STAMP.search(line, 0, 400)
    if found is None:
        return None
    try:
        if found["ms"]:
            return datetime.fromtimestamp(int(found["ms"]) / 1000, UTC)
        text = f"{found['text'].decode()}{(found['part'] or b'').decode()[:7]}{found['zone'].decode()}"
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):  # digits that are no date
        return None
