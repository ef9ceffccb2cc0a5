"""The quarantine file `flake-quarantine/1`: which failures are known, and excused until when.

Written here and applied by the recorder. `quarantine.cases.json` beside the recorder holds the rule as worked cases,
and both sides are tested by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from .query import Glob, label

SCHEMA = "flake-quarantine/1"


@dataclass(frozen=True, slots=True)
class Entry:
    """One excused failure. In `test` only `*` and `?` are special; an empty `step` or `queue` holds for all.

    It covers what has one of its fingerprints, and nothing else; `expires` is its last day.
    """

    test: str
    step: str
    queue: str
    fingerprints: tuple[str, ...]
    reason: str
    evidence: str
    owner: str
    since: date
    expires: date

    def holds_for(self, test: str, step: str, queue: str) -> bool:
        """Whether it speaks of this test, named `classname::name`, in this step and queue."""
        return self.step in ("", step) and self.queue in ("", queue) and _pattern(self.test).matches(test)

    def covers(self, test: str, step: str, queue: str, fingerprint: str, on: date) -> bool:
        """Whether this failure is excused on that day; one without a fingerprint never is."""
        known = bool(fingerprint) and fingerprint in self.fingerprints
        return known and on <= self.expires and self.holds_for(test, step, queue)


def _pattern(test: str) -> Glob:
    """Node ids, and folders written with strokes, in the one spelling that tests are matched by."""
    head, bracket, parameters = label(test).partition("[")
    folder, colons, name = head.partition("::")
    return Glob(folder.replace("/", ".").removeprefix("tests.") + colons + name + bracket + parameters)


class Fate(StrEnum):
    """What became of an entry when the list was made anew."""

    ADDED = "added"
    KEPT = "kept"
    EXPIRED = "expired"
    HEALED = "healed"
    HELD_BACK = "held back"


@dataclass(frozen=True, slots=True)
class Decided:
    """An entry and its fate, with the reason for it in a few words."""

    entry: Entry
    fate: Fate
    why: str = ""


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A quarantine file: entries in force, and those that `lapsed`: they ran out and were not renewed.

    A lapsed entry excuses nothing. It stays known until it heals, so that nothing returns by itself.
    """

    entries: tuple[Entry, ...] = ()
    lapsed: tuple[Entry, ...] = ()
