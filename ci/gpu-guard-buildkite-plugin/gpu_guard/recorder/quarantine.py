"""The quarantine file: which failures are known, and excused until when.

`{"schema":"flake-quarantine/1","entries":[{"test","step","queue","fingerprints","reason","evidence","owner","since",
"expires"}]}`. In `test` only `*` and `?` are special: brackets are parameters. An entry without fingerprints covers
nothing: a known test that fails in a new way is a new failure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gpu_guard.label import plain_label

from .junit import case_names

SCHEMA = "flake-quarantine/1"


class QuarantineError(Exception):
    """The file cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Entry:
    """One excused failure. An empty `step` or `queue` holds for all."""

    test: str
    step: str
    queue: str
    fingerprints: frozenset[str]
    reason: str
    owner: str
    expires: str

    def __str__(self) -> str:
        parts = [self.reason, f"owner {self.owner}" if self.owner else "", f"until {self.expires}"]
        return "; ".join(part for part in parts if part)


class Quarantine:
    """The entries in force for this job, and sentences on those that are not."""

    def __init__(self, entries: list[Entry], *, step: str, queue: str, today: date) -> None:
        self.notes: list[str] = []
        self._entries: list[tuple[re.Pattern[str], Entry]] = []
        unknown = 0
        for entry in entries:
            if entry.step in ("", step) and entry.queue in ("", queue):
                if entry.expires[:10] >= today.isoformat():
                    self._entries.append((_pattern(entry.test), entry))
                else:
                    why = f" ({entry.reason})" if entry.reason else ""
                    self.notes.append(f"expired on {entry.expires}, no longer applied: {entry.test}{why}")
            elif (entry.step and not step) or (entry.queue and not queue):
                unknown += 1
        if unknown:
            entries_ = "1 entry" if unknown == 1 else f"{unknown} entries"
            self.notes.append(f"not applied: {entries_} for a step or queue, and this job does not say its own")

    def entry(self, nodeid: str, fingerprint: str) -> Entry | None:
        """The entry that covers this failure of this test; None for a failure without a fingerprint."""
        name = _name(nodeid)
        for pattern, entry in self._entries:
            if fingerprint in entry.fingerprints and pattern.fullmatch(name):
                return entry
        return None

    def covers(self, nodeid: str, fingerprint: str) -> bool:
        """Whether the failure is excused."""
        return self.entry(nodeid, fingerprint) is not None


def read_quarantine(file: Path, environ: Mapping[str, str], today: date) -> Quarantine:
    """The file's entries for this job; raise QuarantineError where it cannot be read or is no such file."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise QuarantineError(f"{file}: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("entries"), list):
        raise QuarantineError(f"{file}: not a {SCHEMA} file")
    entries = [_entry(file, place, item) for place, item in enumerate(data["entries"])]
    return Quarantine(
        entries,
        step=environ.get("BUILDKITE_STEP_KEY") or _step_by_label(environ),
        queue=environ.get("BUILDKITE_AGENT_META_DATA_QUEUE", ""),
        today=today,
    )


def _step_by_label(environ: Mapping[str, str]) -> str:
    parallel = bool(environ.get("BUILDKITE_PARALLEL_JOB_COUNT"))
    return plain_label(environ.get("BUILDKITE_LABEL", ""), parallel=parallel)


def _entry(file: Path, place: int, item: Any) -> Entry:
    texts = {name: item.get(name) if isinstance(item, dict) else None for name in ("test", "expires")}
    prints: Any = item.get("fingerprints", []) if isinstance(item, dict) else None
    whole = isinstance(prints, list) and all(isinstance(text, str) and text for text in texts.values())
    if not whole or not _is_day(str(texts["expires"])[:10]):
        raise QuarantineError(
            f"{file}: entry {place} needs a test, a list of fingerprints and an expiry date such as 2026-12-31"
        )
    others = {name: str(item.get(name) or "") for name in ("step", "queue", "reason", "owner")}
    return Entry(
        test=str(texts["test"]),
        expires=str(texts["expires"]),
        fingerprints=frozenset(str(known) for known in prints if known),
        **others,
    )


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _name(nodeid: str) -> str:
    """One spelling for node ids and JUnit names: dotted, without a leading `tests`."""
    if "::" in nodeid.partition("[")[0] and "/" not in nodeid.partition("[")[0] and ".py::" not in nodeid:
        return nodeid.removeprefix("tests.")
    classname, name = case_names(nodeid)
    classname = classname.removeprefix("tests.")
    return f"{classname}::{name}"


def _pattern(test: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    text = _name(test) if "::" in test else test.replace("/", ".")
    return re.compile("".join(parts.get(letter) or re.escape(letter) for letter in text), re.DOTALL)
