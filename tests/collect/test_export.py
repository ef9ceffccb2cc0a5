"""Buildkite's build exports give the records that the REST API gave; the layout is the documented one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collect.server.world import World, made_id
from flake_report.collect.export import is_export, read_export
from flake_report.collect.sources import open_source
from flake_report.collect.storage import Storage, open_storage
from flake_report.model.evidence import Evidence

ORG, PIPELINE = made_id("org"), made_id("pipeline")
TOP = f"buildkite/build-exports/org={ORG}"


@pytest.fixture
def history(world: World) -> World:
    first = world.add_job("flaky#0", state="failed", log=b"first\n")
    second = world.add_job("flaky#1", log=b"second\n", retry_source={"job_id": first["id"], "retry_type": "automatic"})
    first.update(retried=True, retried_in_job_id=second["id"])
    world.add_build(7, first, second, {**world.add_job("wait", log=None), "type": "waiter"})
    world.add_build(12, world.add_job("lost", state="failed", exit_status=-1, log=None), branch="feature/x")
    return world


def export(world: World, storage: Storage) -> None:
    """As Buildkite writes it: builds without jobs, jobs and logs in files of their own."""
    for build in world.builds:
        folder = f"{TOP}/date={build['created_at'][:10]}/pipeline={PIPELINE}/build={build['id']}"
        bare = {key: value for key, value in build.items() if key != "jobs"}
        for name, value in {"build": bare, "artifacts": [], "annotations": [], "step-uploads": []}.items():
            storage.write(f"{folder}/{name}.json.gz", [gzip.compress(json.dumps(value).encode())])
        for job in build["jobs"]:
            storage.write(f"{folder}/jobs/job-{job['id']}.json.gz", [gzip.compress(json.dumps(job).encode())])
            if job["id"] in world.logs:
                storage.write(f"{folder}/jobs/job-{job['id']}.log", [world.logs[job["id"]]])


@pytest.fixture
def exported(history: World, tmp_path: Path) -> Path:
    export(history, open_storage(str(tmp_path)))
    return tmp_path


def read(path: object) -> tuple[list[Evidence], list[str]]:
    warnings: list[str] = []
    return list(open_source(str(path), warnings.append)), warnings


def told(evidence: list[Evidence]) -> list[tuple[Any, ...]]:
    """All that a reader is told, in an order of its own."""
    rows = [(one.build, one.job, b"".join(one.log.read()) if one.log else None, one.mode) for one in evidence]
    return sorted(rows, key=lambda row: (row[0].number, row[1].id))


def test_an_export_gives_the_records_of_the_api(
    exported: Path, collect_into: Callable, tmp_path_factory: pytest.TempPathFactory
) -> None:
    archive = tmp_path_factory.mktemp("archive")
    collect_into(archive, artifacts=[])
    evidence, warnings = read(exported)
    assert warnings == []
    assert told(evidence) == told(read(archive)[0])
    assert [(one.build.org, one.build.pipeline, one.build.key, one.job.attempt) for one in evidence] != []
    assert {one.job.attempt for one in evidence} == {0, 1}


@pytest.mark.parametrize("depth", range(7))
def test_any_folder_on_the_way_is_an_export(exported: Path, depth: int) -> None:
    file = next(path for path in sorted(exported.rglob("build.json.gz")))
    parts = file.parent.relative_to(exported).parts[:depth]
    evidence, warnings = read(exported.joinpath(*parts))
    assert warnings == []
    assert len(evidence) in ({1, 2} if depth == 6 else {1, 2, 3})


def test_an_export_in_a_bucket_is_read_in_place(history: World, bucket: str) -> None:
    export(history, open_storage(bucket))
    assert is_export(open_storage(bucket))
    evidence, warnings = read(bucket)
    assert (len(evidence), warnings) == (3, [])


def test_what_is_damaged_is_named_and_the_rest_is_read(exported: Path, history: World) -> None:
    flaky, build = history.builds[1]["jobs"][0]["id"], history.builds[0]["id"]
    [job] = exported.rglob(f"job-{flaky}.json.gz")
    job.write_bytes(b"no json")
    [file] = exported.rglob(f"build={build}/build.json.gz")
    file.write_bytes(b"\x1f\x8b broken")
    evidence, warnings = read(exported)
    assert [one.job.step for one in evidence] == ["flaky"]
    assert len(warnings) == 2
    assert all(str(damaged) in "".join(warnings) for damaged in (job, file))


@pytest.mark.parametrize("url", ["", None, "https://example.com/7"])
def test_a_build_that_does_not_say_whose_it_is_is_named(exported: Path, url: object) -> None:
    for file in exported.rglob("build.json.gz"):
        build = {**json.loads(gzip.decompress(file.read_bytes())), "url": url}
        file.write_bytes(gzip.compress(json.dumps(build).encode()))
    evidence, warnings = read(exported)
    assert evidence == []
    assert all("without a readable `url`" in warning for warning in warnings)


def test_a_build_without_its_own_file_is_named(exported: Path) -> None:
    file = min(exported.rglob("build.json.gz"))
    file.unlink()
    assert read(exported)[1] == [f"{file.parent}: has no build.json.gz; left out"]


def test_a_plain_folder_is_no_export(tmp_path: Path) -> None:
    (tmp_path / "results" / "org=x").mkdir(parents=True)
    assert not is_export(open_storage(str(tmp_path)))
    assert list(read_export(open_storage(str(tmp_path)), lambda _message: None)) == []
