"""The diagnosis has a version that rises whenever the same evidence is diagnosed otherwise: stores trust it."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

from flake_report import flow
from flake_report.classify.diagnosis import VERSION
from flake_report.model.evidence import Blob

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
RECORD = FIXTURES / "diagnosis-version.json"
SEEN = tomllib.loads((FIXTURES / "classify" / "seen.toml").read_text(encoding="utf-8"))["seen"]


def diagnoses() -> Iterator[str]:
    table = flow.signature_table()
    for seen in SEEN:
        told = flow.explain(Blob(seen["where"], lambda text=seen["log"]: iter([text.encode()])), table)
        yield f"{seen['where']}: {[cause.diagnosis.kind.value for cause in told.causes if cause.diagnosis]}"


def test_the_same_evidence_is_diagnosed_as_this_version_diagnoses_it() -> None:
    """To go on after a change on purpose: raise VERSION, then run once with FLAKE_REPORT_BLESS=1."""
    digest = hashlib.sha256("\n".join(diagnoses()).encode()).hexdigest()
    now = {"version": VERSION, "digest": digest}
    if os.environ.get("FLAKE_REPORT_BLESS"):
        RECORD.write_text(json.dumps(now, indent=1) + "\n")
    recorded = json.loads(RECORD.read_text())
    assert now == recorded, "messages are diagnosed otherwise than VERSION says: raise it in diagnosis.py, then bless"
