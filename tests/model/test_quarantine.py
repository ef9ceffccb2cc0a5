"""Which failures an entry covers: the table that the recorder is tested by, too."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from flake_report.model.quarantine import Entry
from flake_report.model.query import label

TABLE = Path(__file__).parents[2] / "ci" / "gpu-guard-buildkite-plugin" / "gpu_guard" / "quarantine.cases.json"
CASES = json.loads(TABLE.read_text(encoding="utf-8"))["cases"]


def entry(given: dict[str, Any]) -> Entry:
    return Entry(
        test=given["test"],
        step=given.get("step", ""),
        queue=given.get("queue", ""),
        fingerprints=tuple(given["fingerprints"]),
        reason="",
        evidence="",
        owner="",
        since=date(2026, 1, 1),
        expires=date.fromisoformat(given.get("expires", "2999-01-01")),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_each_case_of_the_table_is_covered_or_not(case):
    test = label(case["nodeid"])
    covered = entry(case["entry"]).covers(test, "kv", "l4", case["fingerprint"], date(2026, 11, 30))
    assert covered is case["covered"]
