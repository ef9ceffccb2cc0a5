"""Breakages with the commits between which they came and went."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from flake_report.model.evidence import Build
from flake_report.model.rate import Run, RunVerdict
from flake_report.model.verdict import Breakage, Segment

from .pieces import Piece
from .segments import Parted


def broken_at(order: int, segments: Iterable[Segment]) -> bool:
    """Whether the build of this order lies in a breakage."""
    return any(segment.breakage and segment.first <= order <= segment.last for segment in segments)


def breakages(history: Parted, builds: Sequence[Build]) -> tuple[Breakage, ...]:
    """Every breakage of a history, in order; `builds` are what orders point to."""
    return tuple(_breakage(history.runs, segment, builds) for segment in history.segments if segment.breakage)


def _breakage(history: Sequence[Piece], segment: Segment, builds: Sequence[Build]) -> Breakage:
    ends = list(accumulate((piece.last for piece in history), max))  # streaks of several weeks may interleave
    firsts = [piece.first for piece in history]
    before = bisect_left(ends, segment.first) - 1
    after = bisect_right(firsts, segment.last)
    failed = _failed(history[before + 1 : after])
    earliest, latest = segment.earliest, segment.latest
    return Breakage(
        first=builds[segment.first],
        last=builds[segment.last],
        good=builds[ends[before]] if before >= 0 else None,
        mended=builds[firsts[after]] if after < len(history) else None,
        earliest=builds[segment.first if earliest is None else earliest],
        latest=builds[segment.first if latest is None else latest],
        runs=segment.runs,
        failed=segment.failed,
        job=failed[0].job,
        fingerprint=next((run.fingerprint for run in failed if run.fingerprint), ""),
        signature=next((run.signature for run in failed if run.signature), ""),
    )


def _failed(part: Sequence[Piece]) -> list[Run]:
    """The failed runs among these; a breakage has at least one."""
    return [piece.run for piece in part if piece.run and piece.run.verdict is RunVerdict.FAILED]
