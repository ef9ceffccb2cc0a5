"""In which ways a test fails, and which of them are flakes: the failure is judged, not the test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from flake_report.model.evidence import Build
from flake_report.model.known import FailureWay
from flake_report.model.rate import FlakeRate, Fleet, History, Run, RunVerdict, Variant
from flake_report.model.verdict import TestVerdict

FAILED = frozenset({RunVerdict.FAILED, RunVerdict.FLAKY})
"""Runs in which the test failed by itself."""


def ways(fleet: Fleet, rates: Iterable[FlakeRate]) -> dict[Variant, tuple[FailureWay, ...]]:
    """Every way in which a test failed by itself, the most frequent first; tests that never did are left out."""
    histories = {history.variant: history for history in fleet.histories}
    told = ((rate.variant, _ways(rate, histories[rate.variant], fleet.builds)) for rate in rates)
    return {variant: found for variant, found in told if found}


def _ways(rate: FlakeRate, history: History, builds: Sequence[Build]) -> tuple[FailureWay, ...]:
    # of a test that is not called flaky, builds in a row that failed alike were a regression
    flaky = rate.verdict is TestVerdict.FLAKY or rate.also_flaky
    flakes = {run.fingerprint for run in flaking(rate, history)} if flaky else set()
    alike: dict[str, list[Run]] = defaultdict(list)
    for run in history.runs:
        if run.verdict in FAILED:
            alike[run.fingerprint].append(run)
    return tuple(
        FailureWay(
            fingerprint=fingerprint,
            runs=len(runs),
            flake=fingerprint in flakes,
            first=builds[runs[0].order],
            last=builds[runs[-1].order],
            job=runs[-1].job,
            signature=next((run.signature for run in reversed(runs) if run.signature), ""),
        )
        for fingerprint, runs in sorted(alike.items(), key=lambda way: (-len(way[1]), way[0]))
    )


def flaking(rate: FlakeRate, history: History) -> list[Run]:
    """The failures that are known to be flakes.

    They lie outside breakages, at a commit that also passed, or happened in the same way as in another build.
    """
    broken = [(segment.first, segment.last) for segment in rate.segments if segment.breakage]
    runs = [
        run
        for run in history.runs
        if run.verdict in FAILED and run.fingerprint and not any(low <= run.order <= high for low, high in broken)
    ]
    seen: dict[str, int] = defaultdict(int)
    for run in runs:
        seen[run.fingerprint] += 1 if run.verdict is RunVerdict.FAILED else 2
    return [run for run in runs if seen[run.fingerprint] > 1]
