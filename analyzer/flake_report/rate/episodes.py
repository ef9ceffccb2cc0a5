"""Streaks of failed runs that are no breakage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from flake_report.model.rate import Run

from .segments import Parted


@dataclass(frozen=True, slots=True)
class Episode:
    """Neighbouring runs that failed on every attempt, as many as there are, outside breakages.

    `newest`: its last run is the last of the history that has an own attempt.
    """

    runs: tuple[Run, ...]
    newest: bool = False


def episodes(history: Parted) -> list[Episode]:
    """Every episode of a history, in order. A run with a pass ends one, and so does a breakage; a victim does not."""
    found: list[Episode] = []
    streak: list[Run] = []
    for segment, runs in history.stretches:
        for piece in runs:
            if piece.run and piece.failed and not segment.breakage:
                streak.append(piece.run)
            elif streak:
                found.append(Episode(tuple(streak)))
                streak = []
    if streak:
        found.append(Episode(tuple(streak), newest=True))
    return found


def alike(found: Iterable[Episode]) -> tuple[Run, ...]:
    """The largest set of one-build episodes that failed with one fingerprint; empty where no two did.

    A failure without a fingerprint is like no other. Of several sets of one size it is the one that began first.
    """
    by_fingerprint: dict[str, list[Run]] = defaultdict(list)
    for episode in found:
        run = episode.runs[0]
        if len(episode.runs) == 1 and run.fingerprint:
            by_fingerprint[run.fingerprint].append(run)
    largest = max(by_fingerprint.values(), key=len, default=[])
    return tuple(largest) if len(largest) > 1 else ()
