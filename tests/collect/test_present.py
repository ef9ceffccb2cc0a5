"""The files of the build that runs: which job each is of, and what is known of that job."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from flake_report import demo
from flake_report.collect.present import Here, present
from flake_report.errors import FlakeReportError

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ENV = {
    "BUILDKITE_ORGANIZATION_SLUG": "acme",
    "BUILDKITE_PIPELINE_SLUG": "ci",
    "BUILDKITE_BUILD_NUMBER": "812",
    "BUILDKITE_BRANCH": "main",
    "BUILDKITE_JOB_ID": "0196a0f3-aaaa-4000-8000-000000000007",
    "BUILDKITE_LABEL": ":pytest: unit %n",
    "BUILDKITE_AGENT_META_DATA_QUEUE": "gpu_1",
}
OTHER = "0196a0f3-aaaa-4000-8000-000000000008"


def jobs(*paths: Path) -> dict[str, tuple[str, str, list[str], str | None]]:
    told = present([str(path) for path in paths], Here.from_env(ENV, NOW), pytest.fail)
    return {
        one.job.id: (one.job.step, one.job.queue, [blob.name for blob in one.reports], one.log and one.log.name)
        for one in told
    }


def written(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("<testsuite/>")
    return folder


def test_the_build_is_the_one_that_buildkite_names() -> None:
    build = Here.from_env(ENV, NOW).build
    assert (build.org, build.pipeline, build.number, build.branch) == ("acme", "ci", 812, "main")


def test_outside_buildkite_nothing_is_known() -> None:
    here = Here.from_env({}, NOW)
    assert (here.build.number, here.build.key, here.job.id, here.job.step) == (None, "this", "", "")


def test_a_file_at_the_top_is_of_the_job_that_asks_with_its_step_and_queue(tmp_path: Path) -> None:
    folder = written(tmp_path, "junit.xml")
    expected = {ENV["BUILDKITE_JOB_ID"]: ("unit", "gpu_1", ["junit.xml"], None)}
    assert jobs(folder) == jobs(folder / "junit.xml") == expected


def test_folders_are_steps_and_an_id_anywhere_in_the_path_is_a_job(tmp_path: Path) -> None:
    folder = written(tmp_path, "lint/a.xml", "lint/build.log", f"gpu/x/junit-{OTHER}-1.xml", f"gpu/{OTHER}/b.xml")
    assert jobs(folder) == {
        "lint": ("lint", "", ["lint/a.xml"], "lint/build.log"),
        OTHER: ("gpu", "", [f"gpu/{OTHER}/b.xml", f"gpu/x/junit-{OTHER}-1.xml"], None),
    }


def test_files_of_one_job_in_several_folders_come_together(tmp_path: Path) -> None:
    one, two = written(tmp_path / "1", f"{OTHER}.xml"), written(tmp_path / "2", f"{OTHER}.log")
    assert jobs(one, two) == {OTHER: (OTHER, "", [f"{OTHER}.xml"], f"{OTHER}.log")}


def test_what_collect_kept_of_a_build_is_read_with_all_that_is_known_of_its_jobs(tmp_path: Path) -> None:
    demo.write_history(tmp_path)
    build = next(path.parent for path in sorted(tmp_path.rglob("build.json.zst")))
    found = jobs(build)
    assert {queue for _, queue, _, _ in found.values()} <= {"cpu_queue", "gpu_1_queue", "amd_mi325_1"}
    assert all(step and log for step, _, _, log in found.values())
    with pytest.raises(FlakeReportError, match=r"holds \d+ builds; give the folder of one"):
        jobs(tmp_path)


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"x")
    with pytest.raises(FlakeReportError, match="neither results nor a log"):
        jobs(tmp_path / "a.bin")
