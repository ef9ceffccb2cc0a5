"""The archive, written and read again, whole and damaged."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from flake_report.collect.archive import is_archive, read_archive
from flake_report.collect.archive_writer import ArchiveWriter, Artifact
from flake_report.collect.storage import LocalFolder
from flake_report.model.evidence import Evidence

Reader = Callable[..., tuple[list[Evidence], list[str]]]


@pytest.fixture
def root(tmp_path: Path, rest_build: Callable, rest_job: Callable) -> Path:
    """Build 7 with a job that failed and its retry, build 12 with one job; pipeline example/ci."""
    writer = ArchiveWriter(tmp_path / "archive", "example", "ci")
    retried = rest_job(retried=True, retried_in_job_id="job-2", retry_type="automatic")
    retry = rest_job(id="job-2", state="passed", exit_status=0)
    writer.write_build(rest_build(jobs=[retried, retry, rest_job(id="wait-1", type="waiter")]))
    reports = [
        Artifact({"id": "a-1", "path": "test-results/junit.xml"}, [b"<testsuites", b"/>"]),
        Artifact({"id": "a-2", "path": "../../escape.xml"}, [b"<testsuite/>"]),
        Artifact({"id": "a-3", "path": "core.dump"}, [b"\0"]),
    ]
    writer.write_job(7, retried, log=[b"red", b" log\n"], artifacts=reports)
    writer.write_job(7, retry, log=[b"green log\n"])
    writer.write_build(rest_build(number=12, created_at="2026-04-16T05:00:00Z", jobs=[rest_job(id="job-3")]))
    writer.write_job(12, rest_job(id="job-3"))
    return tmp_path / "archive"


@pytest.fixture
def read() -> Reader:
    def call(root: Path) -> tuple[list[Evidence], list[str]]:
        warnings: list[str] = []
        return list(read_archive(LocalFolder(root), warnings.append)), warnings

    return call


def build_folder(root: Path, number: int = 7) -> Path:
    return root / "example" / "ci" / str(number)


def test_what_was_written_is_read_again(root: Path, read: Reader) -> None:
    evidence, warnings = read(root)
    assert warnings == []
    assert [(one.build.key, one.job.id, one.job.attempt, one.job.retry_of) for one in evidence] == [
        ("7", "job-1", 0, None),
        ("7", "job-2", 1, "job-1"),
        ("12", "job-3", 0, None),
    ]
    first, second, third = evidence
    assert (first.build.org, first.build.pipeline) == ("example", "ci")
    assert first.log is not None
    assert b"".join(first.log.read()) == b"red log\n"
    assert {blob.name: b"".join(blob.read()) for blob in first.reports} == {
        "../../escape.xml": b"<testsuite/>",
        "test-results/junit.xml": b"<testsuites/>",
    }
    assert second.reports == ()
    assert third.log is None


def test_every_file_lies_where_the_layout_says(root: Path) -> None:
    inside = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    names = [name for name in inside if "~" not in name]
    job = "example/ci/7/job-1"
    assert names == [
        "example/ci/12/build.json.zst",
        "example/ci/12/job-3/artifacts.json.zst",
        "example/ci/12/job-3/job.json.zst",
        "example/ci/7/build.json.zst",
        f"{job}/artifacts.json.zst",
        f"{job}/artifacts/core.dump.zst",
        f"{job}/artifacts/test-results/junit.xml.zst",
        f"{job}/job.json.zst",
        f"{job}/log.zst",
        "example/ci/7/job-2/artifacts.json.zst",
        "example/ci/7/job-2/job.json.zst",
        "example/ci/7/job-2/log.zst",
    ]
    [marked] = set(inside) - set(names)
    assert marked.startswith(f"{job}/artifacts/escape.xml~")
    assert zstandard.decompress((root / job / "log.zst").read_bytes(), max_output_size=100) == b"red log\n"


@pytest.mark.parametrize("part", ["", "example", "example/ci"])
def test_a_part_of_an_archive_is_an_archive(root: Path, read: Reader, part: str) -> None:
    assert is_archive(LocalFolder(root / part))
    part_read, whole_read = read(root / part)[0], read(root)[0]
    assert [(one.build, one.job) for one in part_read] == [(one.build, one.job) for one in whole_read]


def test_one_build_is_an_archive(root: Path, read: Reader) -> None:
    evidence, _ = read(build_folder(root))
    assert [one.job.id for one in evidence] == ["job-1", "job-2"]
    assert evidence[0].build.pipeline == "ci"


def test_a_build_file_among_the_artifacts_misleads_nobody(root: Path, read: Reader) -> None:
    artifacts = build_folder(root) / "job-1" / "artifacts"
    shutil.copy(build_folder(root, 12) / "build.json.zst", artifacts / "build.json.zst")
    assert [one.job.id for one in read(build_folder(root))[0]] == ["job-1", "job-2"]


def test_builds_come_by_number_not_by_text(root: Path, read: Reader) -> None:
    assert [one.build.number for one in read(root)[0]] == [7, 7, 12]


def test_a_folder_without_builds_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert not is_archive(LocalFolder(tmp_path))


def test_a_job_that_was_not_finished_is_left_out_with_a_warning(root: Path, read: Reader) -> None:
    (build_folder(root) / "job-1" / "job.json.zst").unlink()
    evidence, [warning] = read(root)
    assert [one.job.id for one in evidence] == ["job-2", "job-3"]
    assert warning.startswith(f"{build_folder(root)}: ")
    assert "1 jobs are not complete" in warning


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(zstandard.compress(b'{"number": 7'), "is no JSON", id="cut before it was compressed"),
        pytest.param(zstandard.compress(b"[1]"), "holds no JSON object", id="another shape"),
        pytest.param(zstandard.compress(b"{}"), "without a readable `number`", id="an object without fields"),
        pytest.param(zstandard.compress(b"x" * 5000)[:-4], "ends in the middle", id="cut compressed data"),
        pytest.param(b"", "is no JSON", id="an empty file"),
        pytest.param(zstandard.compress(b"[" * 100_000), "is no JSON", id="nesting without end"),
        pytest.param(zstandard.compress(b"\xff\xfe{}"), "is no JSON", id="not UTF-8"),
    ],
)
def test_a_damaged_build_is_named_and_the_next_one_is_read(root: Path, read: Reader, content: bytes, said: str) -> None:
    (build_folder(root) / "build.json.zst").write_bytes(content)
    evidence, [warning] = read(root)
    assert [one.job.id for one in evidence] == ["job-3"]
    assert said in warning
    assert "collect" in warning or "get the file again" in warning


def test_a_damaged_job_is_named_and_the_others_are_read(root: Path, read: Reader) -> None:
    damaged = build_folder(root) / "job-1" / "job.json.zst"
    damaged.write_bytes(zstandard.compress(b"not json"))
    evidence, [warning] = read(root)
    assert [one.job.id for one in evidence] == ["job-2", "job-3"]
    assert str(damaged) in warning


def test_a_damaged_list_of_artifacts_is_made_good_by_the_folder(root: Path, read: Reader) -> None:
    listing = build_folder(root) / "job-1" / "artifacts.json.zst"
    listing.write_bytes(b"rubbish")
    evidence, [warning] = read(root)
    assert str(listing) in warning
    assert "test-results/junit.xml" in [blob.name for blob in evidence[0].reports]


def test_an_artifact_that_is_listed_but_gone_is_named(root: Path, read: Reader) -> None:
    (build_folder(root) / "job-1" / "artifacts" / "test-results" / "junit.xml.zst").unlink()
    evidence, [warning] = read(root)
    assert "test-results/junit.xml is listed but not stored" in warning
    assert [blob.name for blob in evidence[0].reports] == ["../../escape.xml"]


def test_an_artifact_that_was_compressed_already_is_read_plain(
    tmp_path: Path, rest_job: Callable, read: Reader
) -> None:
    writer = ArchiveWriter(tmp_path, "example", "ci")
    writer.write_build({"number": 7, "created_at": "2026-04-15T18:20:11Z"})
    writer.write_job(7, rest_job(), artifacts=[Artifact({"path": "junit.xml.gz"}, [gzip.compress(b"<testsuites/>")])])
    [one], _ = read(tmp_path)
    assert [b"".join(blob.read()) for blob in one.reports] == [b"<testsuites/>"]


def test_of_json_artifacts_only_a_collectors_list_is_a_report(tmp_path: Path, rest_job: Callable, read: Reader) -> None:
    writer = ArchiveWriter(tmp_path, "example", "ci")
    writer.write_build({"number": 7, "created_at": "2026-04-15T18:20:11Z"})
    tests = Artifact({"path": "tests.json"}, [b'[{"scope": "a", "name": "b", "history": {}}]'])
    writer.write_job(7, rest_job(), artifacts=[tests, Artifact({"path": "shard/plan.json"}, [b"[1, 2]"])])
    [one], warnings = read(tmp_path)
    assert ([blob.name for blob in one.reports], warnings) == (["tests.json"], [])


def test_a_list_of_artifacts_cannot_lead_outside(root: Path, read: Reader, tmp_path: Path) -> None:
    (tmp_path / "secret.xml.zst").write_bytes(zstandard.compress(b"<secret/>"))
    (tmp_path / "secret.json.zst").write_bytes(zstandard.compress(b'[{"scope": "", "name": "", "history": 1}]'))
    outside = [
        {"path": "x.xml", "file": "../../../../../../secret.xml"},
        {"path": "y.xml", "file": str(tmp_path / "secret.xml")},
        {"path": "z.json", "file": "../../../../../../secret.json"},
    ]
    (build_folder(root) / "job-1" / "artifacts.json.zst").write_bytes(zstandard.compress(json.dumps(outside).encode()))
    evidence, warnings = read(root)
    assert evidence[0].reports == ()
    assert len(warnings) == 2


def test_rows_of_the_list_that_are_no_artifacts_are_passed_over(root: Path, read: Reader) -> None:
    rows = [None, 3, {"path": "a.xml"}, {"path": 1, "file": 2}]
    (build_folder(root) / "job-1" / "artifacts.json.zst").write_bytes(zstandard.compress(json.dumps(rows).encode()))
    evidence, warnings = read(root)
    assert (evidence[0].reports, warnings) == ((), [])


def test_a_job_is_known_by_its_folder_where_its_object_lacks_the_id(
    root: Path, read: Reader, rest_job: Callable
) -> None:
    job = {key: value for key, value in rest_job().items() if key != "id"}
    (build_folder(root) / "job-1" / "job.json.zst").write_bytes(zstandard.compress(json.dumps(job).encode()))
    assert [one.job.id for one in read(root)[0]] == ["job-1", "job-2", "job-3"]


def test_a_build_without_a_list_of_jobs_still_has_those_in_its_folder(
    root: Path, read: Reader, rest_build: Callable
) -> None:
    for jobs in (None, "many", [None, {"name": "no id"}]):
        content = json.dumps(rest_build(jobs=jobs)).encode()
        (build_folder(root) / "build.json.zst").write_bytes(zstandard.compress(content))
        assert [one.job.id for one in read(root)[0]] == ["job-1", "job-2", "job-3"]


def test_a_build_whose_folder_cannot_be_listed_is_named(
    root: Path, read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = str(build_folder(root))
    real = os.scandir

    def refuse(path: str) -> object:
        if str(path) == blocked:
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    evidence, [warning] = read(root)
    assert [one.job.id for one in evidence] == ["job-3"]
    assert warning.startswith(f"{blocked}: cannot be read (Permission denied)")
    assert warning.endswith("; the rest of build 7 is left out")


def test_a_later_look_at_the_build_tells_of_a_retry_that_came_after_the_job_was_kept(
    root: Path, read: Reader, rest_build: Callable, rest_job: Callable
) -> None:
    """The newer end of the link may be missing: older servers send no retry_source."""
    jobs = [rest_job(retried=True, retried_in_job_id="job-2", agent=None), rest_job(id="job-2", retry_source=None)]
    writer = ArchiveWriter(root, "example", "ci")
    writer.write_job(7, rest_job(retried=False, retried_in_job_id=None))
    writer.write_job(7, rest_job(id="job-2", retry_source=None))
    writer.write_build(rest_build(jobs=jobs))
    first, second, _ = (one.job for one in read(root)[0])
    assert (first.attempt, second.attempt, second.retry_of) == (0, 1, "job-1")
    assert first.agent == "l4-sim-1"


@pytest.mark.parametrize(
    ("added", "mode"), [({}, "all"), ({"flake_report": {"logs": "failed"}}, "failed"), ({"flake_report": 3}, "all")]
)
def test_the_mode_of_a_job_is_what_its_collector_asked_for(
    root: Path, read: Reader, rest_job: Callable, added: dict, mode: str
) -> None:
    ArchiveWriter(root, "example", "ci").write_job(12, {**rest_job(id="job-3"), **added})
    assert read(root)[0][-1].mode == mode
