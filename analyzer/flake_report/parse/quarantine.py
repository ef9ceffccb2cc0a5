"""A quarantine file that a person may have edited: bytes to entries, or one sentence that says what is wrong."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from flake_report.errors import FlakeReportError
from flake_report.model.quarantine import SCHEMA, Entry, Quarantine


def read_quarantine(data: bytes, name: str) -> Quarantine:
    """The file's entries. Raises `FlakeReportError` for what the recorder would refuse, too."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FlakeReportError(f"{name}: is no JSON ({error}); mend it, or remove it to begin anew") from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA or not isinstance(found.get("entries"), list):
        raise FlakeReportError(f"{name}: is no {SCHEMA} file; name another file, or remove it to begin anew")
    lapsed = found.get("lapsed", [])
    if not isinstance(lapsed, list):
        raise FlakeReportError(f"{name}: lapsed is no list; remove it")
    return Quarantine(
        tuple(_entry(item, f"{name}: entry {place}") for place, item in enumerate(found["entries"])),
        tuple(_entry(item, f"{name}: lapsed entry {place}") for place, item in enumerate(lapsed)),
    )


def _entry(item: Any, place: str) -> Entry:
    test = item.get("test") if isinstance(item, dict) else None
    prints = item.get("fingerprints", []) if isinstance(item, dict) else None
    expires = _day(item.get("expires")) if isinstance(item, dict) else None
    if not isinstance(test, str) or not test or not isinstance(prints, list) or expires is None:
        raise FlakeReportError(
            f"{place} needs a test, a list of fingerprints and an expiry date such as 2026-12-31; add them"
        )
    texts = {key: str(item.get(key) or "") for key in ("step", "queue", "reason", "evidence", "owner")}
    known = tuple(str(one) for one in prints if one)
    return Entry(test=test, fingerprints=known, since=_day(item.get("since")) or expires, expires=expires, **texts)


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None
