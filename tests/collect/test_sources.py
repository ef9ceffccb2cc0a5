"""What `ingest` is given: recognised by what is in it, refused in one sentence."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from flake_report.collect.archive_writer import ArchiveWriter
from flake_report.collect.sources import open_source
from flake_report.errors import FlakeReportError, NothingUsableError


def nothing(_message: str) -> None:
    raise AssertionError(_message)


def test_an_archive_is_read_as_one(tmp_path: Path, rest_build: Callable, rest_job: Callable) -> None:
    writer = ArchiveWriter(tmp_path, "example", "ci")
    writer.write_build(rest_build(jobs=[rest_job()]))
    writer.write_job(7, rest_job(), log=[b"log"])
    [one] = open_source(str(tmp_path), nothing)
    assert (one.build.org, one.build.number, one.job.queue) == ("example", 7, "gpu_1_queue")


def test_any_other_folder_of_results_is_read_as_a_plain_one(tmp_path: Path) -> None:
    (tmp_path / "run-1" / "unit").mkdir(parents=True)
    (tmp_path / "run-1" / "unit" / "junit.xml.gz").write_bytes(gzip.compress(b"<testsuites/>"))
    [one] = open_source(str(tmp_path), nothing)
    assert (one.build.org, one.build.number, one.job.step) == ("folder", None, "unit")


@pytest.mark.parametrize(
    "content", [[], ["coverage.json"], [".hidden.xml"]], ids=["empty", "other files", "hidden files"]
)
def test_a_folder_without_results_has_nothing_usable(tmp_path: Path, content: list[str]) -> None:
    for name in content:
        (tmp_path / name).write_text("{}")
    with pytest.raises(NothingUsableError, match=r"holds no builds and no result files; looked for .*\*\.xml"):
        open_source(str(tmp_path), nothing)


def test_a_file_is_no_source_and_the_right_command_is_named(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_text("<testsuites/>")
    with pytest.raises(FlakeReportError, match=r"junit\.xml is a file; .*`parse`"):
        open_source(str(tmp_path / "junit.xml"), nothing)


@pytest.mark.parametrize("name", ["nowhere", "a\0b", "x" * 5000], ids=["missing", "impossible", "too long"])
def test_a_path_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FlakeReportError):
        open_source(str(tmp_path / name), nothing)


def test_errors_come_at_once_not_with_the_first_job(tmp_path: Path) -> None:
    with pytest.raises(FlakeReportError, match="there is no such folder"):
        open_source(str(tmp_path / "nowhere"), nothing)
