"""The state of a history as rows: the one place from which JSON, CSV, Parquet and the terminal take their numbers."""

from __future__ import annotations

from datetime import datetime

from flake_report.model.rate import FlakeRate
from flake_report.model.report import FlakeReport

COLUMNS = (
    "test", "classname", "name", "apart", "step", "queue", "session",
    "runs", "own_runs", "first_failures", "rate", "low", "high", "rank_low",
    "victim_runs", "env_rate", "env_low", "env_high", "signature",
)  # fmt: skip
"""The stable columns of a test's row, in order."""


def row(test: FlakeRate) -> dict[str, object]:
    """One variant: shares between 0 and 1, with 95 % intervals.

    `test` is `classname::name`; `apart` tells equal ones apart where they are no reruns, and is mostly empty.
    `rate` is first_failures / own_runs, `env_rate` is victim_runs / runs.
    """
    variant, own, environment = test.variant, test.own, test.environment
    values = (
        variant.test.label, variant.test.classname, variant.test.name, variant.test.apart,
        variant.step, variant.queue, variant.session,
        environment.n, own.n, own.hits, own.rate, own.low, own.high, test.rank_low,
        environment.hits, environment.rate, environment.low, environment.high, test.signature,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def to_json(report: FlakeReport) -> dict[str, object]:
    """The stable keys of `show --format json` and of `report.json`."""
    window, health = report.window, report.health
    return {
        "window": {"since": stamp(window.since), "until": stamp(window.until), "branch": window.branch},
        "tests": [row(test) for test in report.tests],
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
    }


def stamp(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
