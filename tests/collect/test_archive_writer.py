"""The archive's writer: files whole or not at all, the job's own file last."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from flake_report.collect.archive_writer import ArchiveWriter, Artifact
from flake_report.errors import FlakeReportError


class LostConnectionError(Exception):
    """What a source may raise while its bytes come."""


def breaking() -> Iterator[bytes]:
    yield b"the first bytes"
    raise LostConnectionError


def files(root: Path) -> list[str]:
    return sorted(path.name for path in root.rglob("*") if path.is_file())


def test_a_source_that_breaks_leaves_no_file_and_keeps_its_error(tmp_path: Path, rest_job: Callable) -> None:
    writer = ArchiveWriter(tmp_path, "example", "ci")
    with pytest.raises(LostConnectionError):
        writer.write_job(7, rest_job(), log=breaking())
    assert files(tmp_path) == []


def test_a_job_that_breaks_in_an_artifact_is_not_complete(tmp_path: Path, rest_job: Callable) -> None:
    writer = ArchiveWriter(tmp_path, "example", "ci")
    artifacts = [Artifact({"path": "a.xml"}, [b"<a/>"]), Artifact({"path": "b.xml"}, breaking())]
    with pytest.raises(LostConnectionError):
        writer.write_job(7, rest_job(), log=[b"log"], artifacts=artifacts)
    assert files(tmp_path) == ["a.xml.zst", "log.zst"]


def test_a_killed_writer_leaves_no_file_under_its_final_name(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom flake_report.collect.archive_writer import ArchiveWriter\n"
        "def chunks():\n    yield os.urandom(3_000_000)\n    os.kill(os.getpid(), 9)\n"
        "ArchiveWriter(Path(sys.argv[1]), 'example', 'ci').write_job(7, {'id': 'job-1'}, log=chunks())\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert ran.returncode == -9
    [left] = files(tmp_path)
    assert left.startswith(".")
    assert left.endswith(".unfinished")


def test_a_newer_look_at_a_build_replaces_the_older(tmp_path: Path, rest_build: Callable) -> None:
    writer = ArchiveWriter(tmp_path, "example", "ci")
    writer.write_build(rest_build(state="running"))
    writer.write_build(rest_build(state="passed"))
    [file] = tmp_path.rglob("*.zst")
    assert b'"state":"passed"' in zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())


@pytest.mark.parametrize(("org", "pipeline"), [("..", "ci"), ("example", "a/b"), ("", "ci"), (".git", "ci")])
def test_a_slug_that_could_lead_elsewhere_is_refused(tmp_path: Path, org: str, pipeline: str) -> None:
    with pytest.raises(FlakeReportError, match="cannot name a folder of the archive"):
        ArchiveWriter(tmp_path, org, pipeline)


@pytest.mark.parametrize("identity", ["../job-1", "", None, 7, "a/b"], ids=repr)
def test_a_job_id_that_could_lead_elsewhere_is_refused(tmp_path: Path, rest_job: Callable, identity: object) -> None:
    with pytest.raises(FlakeReportError, match="cannot name a folder of the archive"):
        ArchiveWriter(tmp_path, "example", "ci").write_job(7, rest_job(id=identity))


@pytest.mark.parametrize("number", [0, -1, "7", None], ids=repr)
def test_a_build_without_a_number_is_refused(tmp_path: Path, rest_build: Callable, number: object) -> None:
    with pytest.raises(FlakeReportError, match="cannot be stored"):
        ArchiveWriter(tmp_path, "example", "ci").write_build(rest_build(number=number))
    assert files(tmp_path) == []


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path, rest_build: Callable) -> None:
    (tmp_path / "example").write_text("a file where a folder must be")
    with pytest.raises(FlakeReportError, match=r"build\.json\.zst: cannot be written .*; check space and permissions"):
        ArchiveWriter(tmp_path, "example", "ci").write_build(rest_build())


def test_text_that_is_no_unicode_is_kept(tmp_path: Path, rest_build: Callable) -> None:
    ArchiveWriter(tmp_path, "example", "ci").write_build(rest_build(message="half a pair: \ud800"))
    [file] = tmp_path.rglob("*.zst")
    assert b"half a pair: \\ud800" in zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())
