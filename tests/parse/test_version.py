"""The parser's version rises whenever the same bytes are read otherwise: stores trust it to tell old readings apart."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from flake_report.parse import VERSION
from flake_report.parse.joblog import Outline, blocks
from flake_report.parse.reports import read_report

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
RECORD = FIXTURES / "parser-version.json"


def readings() -> Iterator[str]:
    for path in sorted([*FIXTURES.glob("junit/**/*.xml"), *FIXTURES.glob("attempts/*.jsonl")]):
        attempts: list[object] = []
        summary = read_report(path.name, [path.read_bytes()], attempts.append)
        yield f"{path.name} {summary} {attempts}"
    for path in sorted(FIXTURES.glob("logs/**/*")):
        if path.is_file():
            outline = Outline()
            for block in blocks([path.read_bytes()]):
                outline.feed(block)
            yield f"{path.name} {outline.result()}"


def test_the_same_bytes_are_read_as_this_version_reads_them() -> None:
    """To go on after a change on purpose: raise VERSION, then run once with FLAKE_REPORT_BLESS=1."""
    digest = hashlib.sha256("\n".join(readings()).encode()).hexdigest()
    now = {"version": VERSION, "digest": digest}
    if os.environ.get("FLAKE_REPORT_BLESS"):
        RECORD.write_text(json.dumps(now, indent=1) + "\n")
    recorded = json.loads(RECORD.read_text())
    assert now == recorded, "fixtures are read otherwise than VERSION says: raise it in parse/__init__.py, then bless"
