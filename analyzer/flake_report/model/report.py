"""What is shown to a person or written to a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .rate import FlakeRate


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
class FlakeReport:
    """The state of a history: one row a variant, worst first."""

    window: Window
    tests: tuple[FlakeRate, ...]
    health: Health
