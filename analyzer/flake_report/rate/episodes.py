"""Streaks of failed runs that are no breakage, and what shows by them that a test flakes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from flake_report.model.evidence import Build
from flake_report.model.rate import Run

from .lines import Line, Lines, line_of
from .segments import Parted


@dataclass(frozen=True, slots=True)
class Episode:
    """Neighbouring runs of one line that failed on every attempt, as many as there are, outside breakages.

    `over`: a run with a pass on its line, or a breakage, came after it. `newest`: its last run is the last of the
    history that has an own attempt.
    """

    runs: tuple[Run, ...]
    over: bool = True
    newest: bool = False


def episodes(history: Parted, lines: Lines) -> list[Episode]:
    """Every episode of a history, in the order in which they began. A victim ends none."""
    if not any(segment.failed for segment in history.segments):
        return []
    found: list[Episode] = []
    failing: dict[Line, list[Run]] = {}
    for segment, runs in history.stretches:
        for piece in runs:
            if piece.run and piece.failed and not segment.breakage:
                failing.setdefault(lines.of(piece.first), []).append(piece.run)
                continue
            ended = [line for line in failing if segment.breakage or lines.meets(line, piece.first, piece.last)]
            found += [Episode(tuple(failing.pop(line))) for line in ended]
    found += [Episode(tuple(runs), over=False, newest=runs[-1].order == history.last) for runs in failing.values()]
    return sorted(found, key=lambda episode: episode.runs[0].order)


def alike(found: Iterable[Episode], builds: Sequence[Build]) -> tuple[Run, ...]:
    """The largest set of one-build episodes that show a flake; empty where none does.

    Of several sets of one size it is the one that began first; `builds` are what orders point to.
    """
    largest = max(_alike(found, builds), key=len, default=[])
    return tuple(largest)


def alike_prints(found: Iterable[Episode], builds: Sequence[Build]) -> frozenset[str]:
    """The fingerprints of all such sets."""
    return frozenset(runs[0].fingerprint for runs in _alike(found, builds))


def _alike(found: Iterable[Episode], builds: Sequence[Build]) -> Iterator[list[Run]]:
    """One-build episodes of one line that failed with one fingerprint, at two commits or more.

    A failure without a fingerprint is like no other. Builds of one commit that fail alike show what that commit does,
    and two branches may well hold one bad commit.
    """
    sets: dict[tuple[Line, str], list[Run]] = defaultdict(list)
    for episode in found:
        run = episode.runs[0]
        if len(episode.runs) == 1 and run.fingerprint:
            sets[line_of(builds[run.order]), run.fingerprint].append(run)
    for runs in sets.values():
        commits = {builds[run.order].commit or run.build for run in runs}
        if len(commits) > 1:
            yield runs
