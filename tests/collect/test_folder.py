"""A plain folder of results: first level builds, second level jobs, times out of the reports."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flake_report.collect.folder import BuildFrom, is_plain_folder, read_folder
from flake_report.collect.storage import LocalFolder
from flake_report.model.evidence import Evidence, JobState

Reader = Callable[..., tuple[list[Evidence], list[str]]]


def suite(timestamp: str) -> bytes:
    return f'<?xml version="1.0"?><testsuites><testsuite name="s" timestamp="{timestamp}"/></testsuites>'.encode()


def put(path: Path, content: bytes, age: datetime | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if age:
        os.utime(path, (age.timestamp(), age.timestamp()))


@pytest.fixture
def read() -> Reader:
    def call(root: Path, *build_from: BuildFrom) -> tuple[list[Evidence], list[str]]:
        warnings: list[str] = []
        return list(read_folder(LocalFolder(root), warnings.append, *build_from)), warnings

    return call


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two builds; the first with two jobs, one of them with reports deep below it."""
    root = tmp_path / "history"
    put(root / "run-1" / "unit" / "junit.xml", suite("2026-04-15T18:40:02.123456+00:00"))
    put(root / "run-1" / "unit" / "build.log", b"log of unit\n")
    put(root / "run-1" / "app" / "target" / "surefire-reports" / "TEST-a.xml", suite("2026-04-15T18:30:00"))
    put(
        root / "run-1" / "app" / "target" / "surefire-reports" / "TEST-b.xml.gz",
        gzip.compress(suite("2026-04-15T18:31:00")),
    )
    put(root / "run-2" / "unit" / "junit.xml", suite("2026-04-16T09:00:00+02:00"))
    return root


def test_the_first_level_are_builds_and_the_second_jobs(root: Path, read: Reader) -> None:
    evidence, warnings = read(root)
    assert warnings == []
    assert [(one.job.step, [blob.name for blob in one.reports], one.log and one.log.name) for one in evidence] == [
        ("app", ["target/surefire-reports/TEST-a.xml", "target/surefire-reports/TEST-b.xml"], None),
        ("unit", ["junit.xml"], "build.log"),
        ("unit", ["junit.xml"], None),
    ]
    first, second, third = evidence
    assert first.build == second.build != third.build
    assert {one.build.pipeline for one in evidence} == {"history"}
    assert {one.job.state for one in evidence} == {JobState.UNKNOWN}
    assert len({one.job.id for one in evidence}) == 3


def test_a_compressed_report_is_read_plain(root: Path, read: Reader) -> None:
    [packed] = [blob for one in read(root)[0] for blob in one.reports if blob.name.endswith("TEST-b.xml")]
    assert b"".join(packed.read()).startswith(b"<?xml")


def test_a_build_is_as_old_as_the_earliest_time_its_reports_tell(root: Path, read: Reader) -> None:
    times = [one.build.created_at for one in read(root)[0]]
    assert times == [
        datetime(2026, 4, 15, 18, 30, tzinfo=UTC),
        datetime(2026, 4, 15, 18, 30, tzinfo=UTC),
        datetime(2026, 4, 16, 7, 0, tzinfo=UTC),
    ]


def test_keys_stay_the_same_wherever_the_folder_lies(root: Path, read: Reader, tmp_path: Path) -> None:
    before = [(one.build.key, one.job.id) for one in read(root)[0]]
    moved = tmp_path / "elsewhere" / "history"
    moved.parent.mkdir()
    shutil.move(root, moved)
    assert [(one.build.key, one.job.id) for one in read(moved)[0]] == before


def test_equal_folders_of_different_histories_have_different_keys(root: Path, read: Reader, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "other")
    one, other = (read(folder)[0] for folder in (root, tmp_path / "other"))
    assert not {each.job.id for each in one} & {each.job.id for each in other}


def test_a_folder_called_dot_has_its_real_name(root: Path, read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [one.job.id for one in read(root)[0]]
    monkeypatch.chdir(root)
    assert [one.job.id for one in read(Path())[0]] == before


def test_files_right_below_a_build_are_a_job_without_a_name(tmp_path: Path, read: Reader) -> None:
    put(tmp_path / "h" / "run-1" / "a.xml", suite("2026-01-01T00:00:00"))
    put(tmp_path / "h" / "run-1" / "b.xml", suite("2026-01-01T00:00:00"))
    [one] = read(tmp_path / "h")[0]
    assert (one.job.step, [blob.name for blob in one.reports]) == ("", ["a.xml", "b.xml"])


def test_files_right_below_the_folder_are_one_build(tmp_path: Path, read: Reader) -> None:
    put(tmp_path / "h" / "a.xml", suite("2026-01-01T00:00:00"))
    put(tmp_path / "h" / "run-1" / "unit" / "b.xml", suite("2026-01-02T00:00:00"))
    loose, inner = read(tmp_path / "h")[0]
    assert [blob.name for blob in loose.reports] == ["a.xml"]
    assert loose.build.key != inner.build.key


@pytest.mark.parametrize(
    ("content", "created_at"),
    [
        pytest.param(suite("2026-02-03T04:05:06"), datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC), id="no zone is UTC"),
        pytest.param(suite("2026-02-03 04:05:06Z"), datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC), id="a space for the T"),
        pytest.param(suite("0001-01-01T00:00:00Z"), None, id="year 1 tells nothing"),
        pytest.param(suite("Tue Feb  3 04:05:06 2026"), None, id="words tell nothing"),
        pytest.param(b"<testsuites/>", None, id="no time at all"),
        pytest.param(b"", None, id="an empty file"),
        pytest.param(
            suite("x" * 20) + suite("2026-02-03T04:05:06"),
            datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
            id="the first that can be read",
        ),
        pytest.param(b"\x1f\x8b\x08\x00damaged", None, id="damaged compression"),
        pytest.param(b" " * 20_000 + suite("2026-02-03T04:05:06"), None, id="too far behind"),
    ],
)  # fmt: skip
def test_a_report_without_a_readable_time_is_as_old_as_its_file(
    tmp_path: Path, read: Reader, content: bytes, created_at: datetime | None
) -> None:
    age = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    put(tmp_path / "h" / "run-1" / "a.xml", content, age)
    [one] = read(tmp_path / "h")[0]
    assert one.build.created_at == (created_at or age)


def test_an_attempts_file_tells_its_time_too(tmp_path: Path, read: Reader) -> None:
    line = b'{"schema":"gpu-guard-attempts/1","started_at":"2026-02-03T04:05:06.5Z"}\n'
    put(tmp_path / "h" / "run-1" / "kv" / "attempts-job-1.jsonl", line)
    [one] = read(tmp_path / "h")[0]
    assert one.build.created_at == datetime(2026, 2, 3, 4, 5, 6, 500_000, tzinfo=UTC)


def test_a_build_of_logs_alone_is_as_old_as_the_oldest(tmp_path: Path, read: Reader) -> None:
    put(tmp_path / "h" / "run-1" / "a" / "x.log", b"x", datetime(2026, 3, 2, tzinfo=UTC))
    put(tmp_path / "h" / "run-1" / "b" / "y.log", b"y", datetime(2026, 3, 1, tzinfo=UTC))
    first, second = read(tmp_path / "h")[0]
    assert first.build.created_at == second.build.created_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert first.reports == ()


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("job.log", "server.log"), "job.log"),
        (("a.log", "longest.log"), "longest.log"),
        (("notes.txt", "console.txt"), "console.txt"),
    ],
)
def test_of_several_logs_the_likely_one_is_read_and_the_choice_is_said(
    tmp_path: Path, read: Reader, names: tuple[str, str], chosen: str
) -> None:
    for name in names:
        put(tmp_path / "h" / "run-1" / "unit" / name, b"x" * len(name) * (1 if name == "job.log" else 9))
    [one], [warning] = read(tmp_path / "h")
    assert one.log is not None
    assert one.log.name == chosen
    assert f"2 logs in one job; only {chosen} is read" in warning


def test_hidden_files_and_broken_links_are_passed_over(tmp_path: Path, read: Reader) -> None:
    put(tmp_path / "h" / "run-1" / ".cache" / "old.xml", suite("2026-01-01T00:00:00"))
    put(tmp_path / "h" / "run-1" / ".old.xml", suite("2026-01-01T00:00:00"))
    put(tmp_path / "h" / "run-1" / "new.xml", suite("2026-01-02T00:00:00"))
    (tmp_path / "h" / "run-1" / "gone.xml").symlink_to(tmp_path / "nowhere.xml")
    [one], warnings = read(tmp_path / "h")
    assert [blob.name for blob in one.reports] == ["new.xml"]
    assert warnings == []


def test_a_collectors_list_is_a_report_and_other_json_is_none(tmp_path: Path, read: Reader) -> None:
    put(tmp_path / "h" / "run-1" / "unit" / "package.json", b'{"name": "left-pad"}')
    put(tmp_path / "h" / "run-1" / "unit" / "tests.json", b'[{"scope": "a.py", "name": "test_a", "history": {}}]')
    [one], warnings = read(tmp_path / "h")
    assert ([blob.name for blob in one.reports], one.log, warnings) == (["tests.json"], None, [])


def test_a_folder_of_other_files_is_none(tmp_path: Path) -> None:
    put(tmp_path / "a" / "b" / "coverage.json", b"{}")
    assert not is_plain_folder(LocalFolder(tmp_path))


def test_a_build_whose_file_vanishes_while_it_is_read_is_named_and_the_next_is_read(
    root: Path, read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanish(file: Path) -> None:
        if "run-1" in file.parts:
            file.unlink()

    monkeypatch.setattr("flake_report.collect.folder._told_time", vanish)
    [one], [warning] = read(root)
    assert b"2026-04-16T09:00:00+02:00" in b"".join(one.reports[0].read())
    assert "cannot be read (No such file or directory); the rest of build run-1 is left out" in warning


def test_by_age_files_of_the_same_hour_are_one_build_and_folders_are_jobs(tmp_path: Path, read: Reader) -> None:
    night = datetime(2026, 4, 15, 2, 0, tzinfo=UTC)
    told = suite("2020-01-01T00:00:00")  # by age what a report tells of its time does not count
    for name, minutes in {"gpu/a.xml": 0, "gpu/b.xml": 59, "cpu/deep/a.xml": 110, "loose.xml": 130}.items():
        put(tmp_path / name, told, night + timedelta(minutes=minutes))
    put(tmp_path / "gpu" / "next.xml", told, night + timedelta(minutes=191))
    evidence, warnings = read(tmp_path, BuildFrom.MTIME)
    assert warnings == []
    assert [(one.build.created_at, one.job.step, [blob.name for blob in one.reports]) for one in evidence] == [
        (night, "", ["loose.xml"]),
        (night, "cpu/deep", ["a.xml"]),
        (night, "gpu", ["a.xml", "b.xml"]),
        (night + timedelta(minutes=191), "gpu", ["next.xml"]),
    ]
    assert len({one.build.key for one in evidence}) == 2
    assert len({one.job.id for one in evidence}) == 4


def test_by_age_reading_again_gives_the_same_keys_also_when_a_build_was_added(tmp_path: Path, read: Reader) -> None:
    night = datetime(2026, 4, 15, 2, 0, tzinfo=UTC)
    put(tmp_path / "a.xml", suite("x"), night)
    before = read(tmp_path, BuildFrom.MTIME)[0]
    put(tmp_path / "b.xml", suite("x"), night + timedelta(days=1))
    after = read(tmp_path, BuildFrom.MTIME)[0]
    assert [one.job.id for one in after][:1] == [one.job.id for one in before]
    assert len(after) == 2
