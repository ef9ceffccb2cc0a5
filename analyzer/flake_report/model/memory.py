"""GPU memory over a history: who left it, which setting fits, as types that cross from the store to the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import floor

GIB = 1 << 30

LEAST_FOR_SUSPECTS = 5
"""Incidents that it takes to suspect anyone by the order of tests: of fewer, the set misses the culprit too often."""

_HALF_STEP = 0.005 * GIB


def largest_utilization(free: float, total: float) -> float:
    """The largest utilization, in hundredths, that surely asks for no more than `free` of `total` bytes.

    Logs print sizes rounded to 0.01 GiB, so the half of that is taken off before dividing: the advice must hold.
    """
    return floor(max(free - _HALF_STEP, 0) / (total + _HALF_STEP) * 100) / 100 if total > 0 else 0.0


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where tests share processes over builds: one session of one step on one queue."""

    step: str
    queue: str
    session: str = ""


@dataclass(frozen=True, slots=True)
class TestOrder:
    """The tests of one process of one job in the order in which they started, as `classname::name`, each once.

    `victims` failed for want of GPU memory, `passed` passed. `pool_jobs` is how many jobs its step and queue had, where
    not all of them are told; 0 where they are.
    """

    __test__ = False  # pytest would take the name for a test class

    place: Place
    job: str
    tests: tuple[str, ...]
    victims: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    pool_jobs: int = 0


@dataclass(frozen=True, slots=True)
class TracePoint:
    """What all processes together held on a device when `test` was about to begin, or had just ended; bytes."""

    test: str
    before: bool
    used: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The recorder's samples of one device in one job, in order of time."""

    job: str
    device: str
    points: tuple[TracePoint, ...]


class Basis(StrEnum):
    """What a culprit is known from."""

    SAMPLES = "samples"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A test that may have left the memory. `probability` is by order of tests, None where it was measured.

    `left` is the median of what it left in the incidents that were measured, in bytes; None where none was. In `times`
    of those it left most.
    """

    test: str
    probability: float | None = None
    left: int | None = None
    times: int = 0


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Who left the memory, in one place, over all its incidents.

    `culprit` is the one that is named, and None where the data cannot name one. `suspects` are then the fewest
    candidates that hold the culprit with 95 % probability, likeliest first; empty where there are too few incidents.
    `victim` is the test that failed most. `unseparated` are pairs of suspects whose order never changed.
    `outside` is the probability, by order, that no test of the process did it; None where order was not asked, and of
    fewer than three incidents: of those the store tells no other jobs, against which they could be weighed.
    `rate` is incidents / jobs. `measured` incidents had samples of the recorder. `orders` is in how many different
    orders the tests ran, in the jobs that are told.
    """

    place: Place
    incidents: int
    jobs: int
    victim: str
    basis: Basis
    culprit: Suspect | None = None
    suspects: tuple[Suspect, ...] = ()
    measured: int = 0
    outside: float | None = None
    orders: int = 1
    unseparated: tuple[tuple[str, str], ...] = ()

    @property
    def rate(self) -> float:
        """Incidents in a job."""
        return self.incidents / self.jobs if self.jobs else 0.0


@dataclass(frozen=True, slots=True)
class Start:
    """A start of an engine in a test: what it asked for and what it met; sizes in bytes, None where nobody says.

    One a job: reruns meet what the first one met. `refused`: free memory was less than it asked for, and `free` is
    exact. `up`: it came up. Neither: it was let in, and failed later, for other reasons. Starts that were let in and
    went alike come together: `count` of them, of no one build or job, `created_at` that of the newest.
    """

    test: str
    place: Place
    build: str
    job: str
    created_at: datetime
    utilization: float
    refused: bool
    up: bool
    free: int | None = None
    total: int | None = None
    requested: int | None = None
    base: int | None = None
    kv: int | None = None
    device: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Risk:
    """The probability that an engine with this utilization is refused, with its 95 % band, by Kaplan and Meier.

    `at_most` bounds it with 95 % probability from above alone. `known` is False above the largest setting that was
    ever let in: there the data say nothing. `effective` is the number of starts that the band rests on.
    """

    utilization: float
    asks: int
    rate: float
    low: float
    high: float
    at_most: float
    effective: float
    known: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """One failure that was seen: what was free, and what was asked for. Sizes in bytes.

    `mirrored`: what was in use is as much as was asked for, within 0.3 GiB: it may be an engine of an earlier test with
    the same setting, and then a lower setting leaves more free than was seen.
    """

    build: str
    job: str
    created_at: datetime
    utilization: float
    free: int
    asked: int
    total: int
    mirrored: bool = False

    @property
    def used(self) -> int:
        """What others held."""
        return self.total - self.free


class Fit(StrEnum):
    """What can be said of a setting.

    CERTIFIED: its risk is within the budget, with 95 % probability. SEEN: it would have passed every failure seen, and
    there are too few starts to say more. CLEAN: what others left must go first, whatever the setting.
    """

    CERTIFIED = "certified"
    SEEN = "largest that would have passed every failure seen"
    CLEAN = "leftover must go first"


@dataclass(frozen=True, slots=True)
class Tuning:
    """What the settings of one test in one place did, and which one fits. Sizes in bytes; cards of a size together.

    `starts` were let in or refused; `ignored` starts are on a card of unknown size. `need` is the least that the test
    needs besides its KV cache, by what engines told, `held` what the recorder saw it hold at its end, `least_kv`
    the smallest KV cache with which it came up; None where nobody says. `floor` is the least utilization that came up.
    `advised` is the largest setting that `fit` speaks of, None where no setting mends it. `leftover` is what must go
    before the test fits at all: 0 where it fits. `needed_passes` are the starts that a certificate takes.
    """

    test: str
    place: Place
    total: int
    device: str
    starts: int
    refusals: tuple[Refusal, ...]
    risks: tuple[Risk, ...]
    budget: float
    fit: Fit
    advised: float | None = None
    current: float | None = None
    need: int | None = None
    held: int | None = None
    least_kv: int | None = None
    floor: float | None = None
    leftover: int = 0
    needed_passes: int = 0
    ignored: int = 0
    mirrored_advice: float | None = None


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """How many events of one kind there were in a place, and in how many jobs."""

    kind: str
    place: Place
    events: int
    jobs: int


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What a history says of GPU memory. `culprits` names, for jobs with an incident, the test that left the memory."""

    suspicions: tuple[Suspicion, ...] = ()
    culprits: Mapping[str, str] = field(default_factory=dict)
    tunings: tuple[Tuning, ...] = ()
    diagnoses: tuple[Diagnosed, ...] = ()
