"""`flakes.json`: what other pipelines need to know the known failures, in a file that is small whatever the history."""

from __future__ import annotations

import json

from flake_report.model.known import SCHEMA, FailureWay, KnownTest
from flake_report.model.rate import FlakeRate
from flake_report.model.report import FlakeReport

from . import incidents
from .history import row
from .links import job_url
from .weekly import variant_keys
from .words import plural, stamp

LIMIT = 1_000_000
"""Bytes of the file at most."""

WAYS = 20
"""Ways to fail that are told of one test, the most frequent ones."""

KEYS = (
    "classname", "name", "apart", "step", "queue", "session", "verdict", "reason",
    "runs", "own_runs", "first_failures", "rate", "victim_runs", "signature", "owner",
)  # fmt: skip
"""What a row has of a test's row in `report.json`."""


def flakes_json(report: FlakeReport, limit: int | None = LIMIT) -> bytes:
    """The tests that failed or that the environment failed, worst first, each with the ways in which it failed.

    What has no room within `limit` bytes is left out from the end, and the file says how many tests that are. A test
    without a failure is not in it: a failure of a test that is not listed is new.
    """
    newest = stamp(report.health.newest)
    failing = [test for test in report.tests if report.ways.get(test.variant) or test.environment.hits]
    rows = [_compact(_row(test, report.ways.get(test.variant, ()), newest)) for test in failing]
    rows += [_compact(_carried(test)) for test in report.carried]
    whole_number = len(rows)
    kinds = [_compact(incidents.kind_to_json(kind)) for kind in report.incident_kinds]
    while True:
        whole = _document(report, rows, kinds, whole_number - len(rows))
        if limit is None or len(whole) <= limit or not rows + kinds:
            return whole
        over = len(whole) - limit
        while over > 0 and rows + kinds:  # incidents go last: they are few, and each explains many failures
            over -= len((rows or kinds).pop().encode()) + 2


def _document(report: FlakeReport, rows: list[str], kinds: list[str], left_out: int) -> bytes:
    health = report.health
    head = {
        "schema": SCHEMA,
        "builds": health.builds,
        "oldest": stamp(health.oldest),
        "newest": stamp(health.newest),
        "branch": report.window.branch,
        "budget": report.budget,
        "left_out": left_out,
        "note": f"{plural(left_out, 'test')} had no room here" if left_out else None,
    }
    parts = [*(f"{json.dumps(key)}: {_compact(value)}" for key, value in head.items())]
    parts += [f'"tests": [{_lines(rows)}]', f'"incidents": [{_lines(kinds)}]']
    return ("{" + ",\n".join(parts) + "}\n").encode()


def _lines(rows: list[str]) -> str:
    return "\n" + ",\n".join(rows) + "\n" if rows else ""


def _row(test: FlakeRate, ways: tuple[FailureWay, ...], until: str | None) -> dict[str, object]:
    whole = row(test)
    return {
        **{key: whole[key] for key in KEYS},
        "until": until,
        "ways": [
            {
                "fingerprint": way.fingerprint,
                "runs": way.runs,
                "flake": way.flake,
                "last": way.last.label,
                "url": job_url(way.last, way.job),
            }
            for way in ways[:WAYS]
        ],
    }


def _carried(known: KnownTest) -> dict[str, object]:
    return {
        **variant_keys(known.variant),
        "verdict": known.verdict.value,
        "reason": known.reason,
        "runs": known.runs,
        "own_runs": known.own_runs,
        "first_failures": known.first_failures,
        "rate": known.rate,
        "victim_runs": known.victim_runs,
        "signature": known.signature,
        "owner": known.owner,
        "until": stamp(known.until),
        "ways": [
            {
                "fingerprint": way.fingerprint,
                "runs": way.runs,
                "flake": way.flake,
                "last": way.last,
                "url": way.url or None,
            }
            for way in known.ways
        ],
    }


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
