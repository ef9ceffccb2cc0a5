"""Failures by the environment, counted once each."""

from __future__ import annotations

from dataclasses import dataclass

from .evidence import Build
from .rate import Variant


@dataclass(frozen=True, slots=True)
class Incident:
    """Victims in one job that share a signature: what struck them happened once.

    `culprit` names what left the damage behind; empty where no data can name it.
    """

    build: Build
    job: str
    signature: str
    victims: tuple[Variant, ...]
    culprit: str = ""
