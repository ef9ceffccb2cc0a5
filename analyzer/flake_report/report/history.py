"""The state of a history as rows: the one place from which JSON, CSV, Parquet and the terminal take their numbers."""

from __future__ import annotations

from dataclasses import asdict

from flake_report.model.evidence import Build
from flake_report.model.rate import FlakeRate
from flake_report.model.report import FlakeReport
from flake_report.model.verdict import Breakage

from . import incidents, machines, memory, rollups, weekly
from .links import build_url, job_url
from .words import stamp

COLUMNS = (
    "test", "classname", "name", "apart", "step", "queue", "session", "verdict", "also_flaky", "unsteady", "reason",
    "runs", "own_runs", "first_failures", "rate", "low", "high", "rank_low", "over_budget", "flaky_runs",
    "retried", "retried_in_session", "retried_automatic", "retried_manual",
    "recovered", "recovery_rate", "recovery_low", "recovery_high",
    "victim_runs", "env_rate", "env_low", "env_high", "signature", "owner", "trend", "breakages",
)  # fmt: skip
"""The stable columns of a test's row, in order."""


def row(test: FlakeRate) -> dict[str, object]:
    """One variant: shares between 0 and 1, with 95 % intervals.

    `test` is `classname::name`; `apart` tells equal ones apart where they are no reruns, and is mostly empty.
    `rate` is first_failures / own_runs and `recovery_rate` is recovered / retried, both outside breakages; `env_rate`
    is victim_runs / runs. `over_budget` is the probability that the rate is above the report's budget.
    """
    variant, own, environment, recovery, retried = (
        test.variant, test.own, test.environment, test.recovery, test.retried,
    )  # fmt: skip
    values = (
        variant.test.label, variant.test.classname, variant.test.name, variant.test.apart,
        variant.step, variant.queue, variant.session, test.verdict.value, test.also_flaky, test.unsteady, test.reason,
        environment.n, own.n, own.hits, own.rate, own.low, own.high, test.rank_low, test.over_budget, test.flaky_runs,
        retried.total, retried.session, retried.automatic, retried.manual,
        recovery.hits, recovery.rate, recovery.low, recovery.high,
        environment.hits, environment.rate, environment.low, environment.high, test.signature, test.owner,
        [
            {"week": week.week, "runs": week.runs, "first_failures": week.first_failures, "victims": week.victims}
            for week in test.trend
        ],
        [breakage_row(breakage) for breakage in test.breakages],
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def breakage_row(breakage: Breakage) -> dict[str, object]:
    """The builds that bound a breakage: what broke it came after `good`, what mended it after `last`.

    It began between `earliest` and `latest` with 95 % probability.
    """
    return {
        "first": build_row(breakage.first),
        "last": build_row(breakage.last),
        "good": build_row(breakage.good) if breakage.good else None,
        "mended": build_row(breakage.mended) if breakage.mended else None,
        "earliest": build_row(breakage.earliest),
        "latest": build_row(breakage.latest),
        "runs": breakage.runs,
        "failed": breakage.failed,
        "url": job_url(breakage.first, breakage.job),
        "fingerprint": breakage.fingerprint,
        "signature": breakage.signature,
    }


def build_row(build: Build) -> dict[str, str | None]:
    """A build by its key, with its commit and page; None where it has no page."""
    return {"build": build.key, "commit": build.commit, "url": build_url(build)}


def to_json(report: FlakeReport) -> dict[str, object]:
    """The stable keys of `show --format json` and of `report.json`."""
    window, health = report.window, report.health
    return {
        "window": {"since": stamp(window.since), "until": stamp(window.until), "branch": window.branch},
        "budget": report.budget,
        "tests": [row(test) for test in report.tests],
        "rollups": [rollups.to_json(rollup) for rollup in report.rollups],
        "weeks": [asdict(week) for week in report.weeks],
        "comparisons": weekly.to_json(report.comparisons),
        "week_counts": weekly.table_to_json(report.counts),
        "incidents": [incidents.to_json(incident) for incident in report.incidents],
        "incident_kinds": [incidents.kind_to_json(kind) for kind in report.incident_kinds],
        "agents": [machines.to_json(rate) for rate in report.agents],
        "health": {
            "builds": health.builds,
            "jobs": health.jobs,
            "jobs_without_results": health.jobs_without_results,
            "jobs_lost": health.jobs_lost,
            "attempts": health.attempts,
            "attempts_unknown": health.attempts_unknown,
            "oldest": stamp(health.oldest),
            "newest": stamp(health.newest),
            "modes": list(health.modes),
            "warnings": health.warnings,
        },
        **memory.to_json(report),
    }
