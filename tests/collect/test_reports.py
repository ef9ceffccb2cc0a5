"""Which files of a job are read, by name."""

from __future__ import annotations

import pytest

from flake_report.collect.reports import is_log, is_report


@pytest.mark.parametrize(
    "path",
    ["junit.xml", "target/surefire-reports/TEST-a.B.xml", "JUNIT.XML", "junit.xml.gz", "a/junit.xml.zst",
     "gpu-guard/attempts-0196-20260415T184002Z-512.jsonl"],
)  # fmt: skip
def test_a_report_is_known_by_its_name(path: str) -> None:
    assert is_report(path)
    assert not is_log(path)


@pytest.mark.parametrize("path", ["build.log", "logs/job.txt", "build.log.gz", "console.TXT.zst"])
def test_a_log_is_known_by_its_name(path: str) -> None:
    assert is_log(path)
    assert not is_report(path)


@pytest.mark.parametrize(
    "path", ["coverage.json", "xml", "junit.xml.bak", "log", "events.jsonl", "core.xml/dump", "a.zst"]
)
def test_anything_else_is_neither(path: str) -> None:
    assert not is_report(path)
    assert not is_log(path)
