"""What is shown to a person or written to a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from .comparison import Comparisons, WeekTable
from .cost import Cost
from .evidence import Build
from .incident import Incident, IncidentKind
from .known import FailureWay, KnownTest
from .machines import PlaceRate
from .memory import MemoryReport
from .rate import FlakeRate, RollUp, Variant
from .results import TestId


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of history that a report is about; None is open."""

    since: datetime | None
    until: datetime | None
    branch: str | None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the data can be trusted: shown with every report."""

    builds: int
    jobs: int
    jobs_without_results: int
    jobs_lost: int
    attempts: int
    attempts_unknown: int
    oldest: datetime | None
    newest: datetime | None
    modes: tuple[str, ...]
    warnings: int


@dataclass(frozen=True, slots=True)
class WeekTotal:
    """One ISO week of all tests together, breakages among them.

    `runs` have an own attempt. `flaky` are the variants called flaky that failed on a first attempt in this week,
    `hours` the GPU-hours lost to failures that were no regression.
    """

    week: str
    builds: int
    runs: int
    first_failures: int
    victims: int
    flaky: int
    incidents: int
    hours: float


@dataclass(frozen=True, slots=True)
class FlakeReport:
    """The state of a history: one row a variant, worst first.

    `budget` is the rate that a test may have; `builds` are what every `order` points to. `owners` names the owner of
    each test that has one. `incidents` come newest first, `incident_kinds` are the same over builds; `agents` are rates
    of the places where jobs ran. `memory` is what there is to say of GPU memory, `cost` what was lost without a
    regression. `weeks` are the newest ones with builds, oldest first; `counts` are what weeks are compared by. `ways`
    is how each test failed that failed by itself, `carried` what an earlier export knew beside that.

    A brief report has what a terminal shows unasked: no `weeks`, `counts` and `ways`, no roll-ups of tests or files.
    """

    window: Window
    tests: tuple[FlakeRate, ...]
    health: Health
    budget: float
    builds: tuple[Build, ...] = ()
    rollups: tuple[RollUp, ...] = ()
    incidents: tuple[Incident, ...] = ()
    incident_kinds: tuple[IncidentKind, ...] = ()
    comparisons: Comparisons = field(default_factory=Comparisons)
    agents: tuple[PlaceRate, ...] = ()
    owners: Mapping[TestId, str] = field(default_factory=dict)
    memory: MemoryReport = field(default_factory=MemoryReport)
    cost: Cost | None = None
    weeks: tuple[WeekTotal, ...] = ()
    counts: WeekTable = field(default_factory=WeekTable)
    ways: Mapping[Variant, tuple[FailureWay, ...]] = field(default_factory=dict)
    carried: tuple[KnownTest, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report, or what else was asked, as finished text; `found` is False where nothing in the history matches."""

    text: str
    found: bool
