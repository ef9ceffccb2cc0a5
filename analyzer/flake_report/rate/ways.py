"""In which ways a test fails, and which of them are flakes: the failure is judged, not the test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from flake_report.model.evidence import Build
from flake_report.model.known import FailureWay
from flake_report.model.rate import FlakeRate, Fleet, History, Run, RunVerdict, Variant

from .breakages import broken_at

FAILED = frozenset({RunVerdict.FAILED, RunVerdict.FLAKY})
"""Runs in which the test failed by itself."""


def ways(fleet: Fleet, rates: Iterable[FlakeRate]) -> dict[Variant, tuple[FailureWay, ...]]:
    """Every way in which a test failed by itself, the most frequent first; tests that never did are left out."""
    histories = {history.variant: history for history in fleet.histories if history.runs}
    failing = ((rate, histories[rate.variant]) for rate in rates if rate.variant in histories)
    told = ((rate.variant, _ways(rate, history, fleet.builds)) for rate, history in failing)
    return {variant: found for variant, found in told if found}


def _ways(rate: FlakeRate, history: History, builds: Sequence[Build]) -> tuple[FailureWay, ...]:
    alike: dict[str, list[Run]] = defaultdict(list)
    for run in history.runs:
        if run.verdict in FAILED:
            alike[run.fingerprint].append(run)
    return tuple(
        FailureWay(
            fingerprint=fingerprint,
            runs=len(runs),
            flake=fingerprint in rate.flakes,
            first=builds[runs[0].order],
            last=builds[runs[-1].order],
            job=runs[-1].job,
            signature=next((run.signature for run in reversed(runs) if run.signature), ""),
        )
        for fingerprint, runs in sorted(alike.items(), key=lambda way: (-len(way[1]), way[0]))
    )


def flaking(rate: FlakeRate, history: History) -> list[Run]:
    """The failures that are known to be flakes: outside breakages, and with a fingerprint that showed itself as one.

    A test that flakes in one way and is broken in another for a few builds flakes in the one way alone.
    """
    return [
        run
        for run in history.runs
        if run.verdict in FAILED and run.fingerprint in rate.flakes and not broken_at(run.order, rate.segments)
    ]
