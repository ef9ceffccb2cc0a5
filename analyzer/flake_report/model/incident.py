"""Failures by the environment, counted once each."""

from __future__ import annotations

from dataclasses import dataclass

from .evidence import Build
from .failure import Blame
from .rate import Variant


@dataclass(frozen=True, slots=True)
class Struck:
    """One variant that the environment failed in one job, with one signature.

    `order` is the build's, `ordinal` the place of its first such attempt in the job's record. `fingerprint` is the
    first that one of those attempts has.
    """

    order: int
    job: str
    agent: str
    host: str
    signature: str
    blame: Blame
    ordinal: int
    fingerprint: str
    variant: Variant


@dataclass(frozen=True, slots=True)
class Incident:
    """Victims in one job that share a signature: what struck them happened once.

    `victims` come in the order in which they were struck. `fingerprint` is that of the first victim that has one.
    `culprit` names the test that left the damage behind; empty where no data can name it.
    """

    build: Build
    job: str
    signature: str
    victims: tuple[Variant, ...]
    culprit: str = ""
    blame: Blame = Blame.INFRA
    fingerprint: str = ""
    agent: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class IncidentKind:
    """Incidents over builds that share signature and fingerprint: one cause, as far as messages tell.

    `victims` counts variants, each once. `new`: the first one lies in the newest week, and there are weeks before it.
    """

    signature: str
    fingerprint: str
    blame: Blame
    incidents: int
    victims: int
    first: Build
    last: Build
    new: bool
