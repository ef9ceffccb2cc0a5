"""Which files of a job are read: by name, and JSON by how it begins."""

from __future__ import annotations

import pytest

from flake_report.collect.reports import FileKind, kind_of

COLLECTOR = (
    b'[\n {"id": "1", "scope": "tests/test_a.py", "name": "test_a", "location": "tests/test_a.py:3", "history": {}}]'
)


def never() -> bytes:
    raise AssertionError("the name says enough")


@pytest.mark.parametrize(
    "path",
    ["junit.xml", "target/surefire-reports/TEST-a.B.xml", "JUNIT.XML", "junit.xml.gz", "a/junit.xml.zst",
     "gpu-guard/attempts-0196-20260415T184002Z-512.jsonl"],
)  # fmt: skip
def test_a_report_is_known_by_its_name(path: str) -> None:
    assert kind_of(path, never) is FileKind.REPORT


@pytest.mark.parametrize("path", ["build.log", "logs/job.txt", "build.log.gz", "console.TXT.zst"])
def test_a_log_is_known_by_its_name(path: str) -> None:
    assert kind_of(path, never) is FileKind.LOG


@pytest.mark.parametrize(
    "path", ["xml", "junit.xml.bak", "log", "events.jsonl", "core.xml/dump", "a.zst", "attempts.csv", ""]
)
def test_anything_else_is_neither(path: str) -> None:
    assert kind_of(path, never) is None


@pytest.mark.parametrize("path", ["results.json", "a/b.JSON.gz"])
def test_a_collectors_list_is_known_by_how_it_begins(path: str) -> None:
    assert kind_of(path, lambda: COLLECTOR) is FileKind.COLLECTOR


@pytest.mark.parametrize(
    "head",
    [b"", b"{}", b"[]", b'[{"name": "left-pad"}]', COLLECTOR.removeprefix(b"["), b"\x1f\x8b"],
    ids=["empty", "an object", "an empty list", "a list of packages", "no list", "compressed"],
)
def test_any_other_json_is_left_alone(head: bytes) -> None:
    assert kind_of("results.json", lambda: head) is None
