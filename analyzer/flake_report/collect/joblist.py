"""One row of a build's list of jobs, wherever the list comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A command job; `step` is the id that the website's `?sid=` names."""

    id: str
    step: str
    name: str
    failed: bool
    soft: bool
