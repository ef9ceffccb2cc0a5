"""What a history knows of failures, as it is handed on to builds that come after it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .evidence import Build
from .failure import Blame
from .rate import Variant
from .verdict import TestVerdict

SCHEMA = "flake-known/1"
"""The first word of a `flakes.json`."""


@dataclass(frozen=True, slots=True)
class FailureWay:
    """One way in which a test failed by itself: the runs that share a fingerprint; empty for those without one.

    `flake`: the test is flaky, and one of these runs was in a build that also passed, or several builds failed so,
    outside breakages. `job` is where the last of them happened.
    """

    fingerprint: str
    runs: int
    flake: bool
    first: Build
    last: Build
    job: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class KnownWay:
    """The same, as a file tells it; `last` is a build's label, `url` the job, empty where it has no page."""

    fingerprint: str
    runs: int
    flake: bool
    last: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class KnownTest:
    """A variant that failed, or that the environment failed.

    `rate` is first_failures / own_runs outside breakages, `victim_runs` are those of all `runs` that the environment
    failed. `until` is the newest build that was counted; older than the file's own where an earlier export knew it.
    """

    variant: Variant
    verdict: TestVerdict
    reason: str
    runs: int
    own_runs: int
    first_failures: int
    rate: float
    victim_runs: int
    signature: str = ""
    owner: str = ""
    ways: tuple[KnownWay, ...] = ()
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class KnownIncident:
    """Incidents of the environment that share a signature and a fingerprint."""

    signature: str
    fingerprint: str
    blame: Blame | None
    incidents: int
    victims: int
    first_at: datetime | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class KnownFailures:
    """All that is known, of `builds` builds between two times, on `branch` where one was asked for.

    `left_out` tests had no room in the file: a failure of one of those looks new.
    """

    builds: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    branch: str = ""
    tests: tuple[KnownTest, ...] = ()
    incidents: tuple[KnownIncident, ...] = ()
    left_out: int = 0
