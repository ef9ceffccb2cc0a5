"""A whole collection from a real local server into an archive, and what a second one then costs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from collect.server.buildkite import Buildkite
from collect.server.rest import CREDENTIAL
from collect.server.wire import Fault, Reply
from collect.server.world import NOON, World, stamp
from flake_report.collect.archive import read_archive
from flake_report.collect.storage import open_storage
from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Evidence

Collect = Callable[..., Any]
JUNIT = b'<testsuites><testsuite name="s"><testcase classname="a" name="b"/></testsuite></testsuites>'


@pytest.fixture
def history(world: World) -> World:
    """Three builds: a green one; a red one with a retry, a running job and jobs that left nothing; a branch's."""
    kv = world.add_job("kv", log=b"kv log\n")
    world.add_artifact(kv, "test-results/junit-1.xml", JUNIT)
    world.add_artifact(kv, "core.dump", b"core")
    world.add_artifact(kv, "old.xml", b"<gone/>", state="expired")
    world.add_build(7, kv, {**world.add_job("wait", log=None), "type": "waiter"})
    first = world.add_job("flaky#0", state="failed", log=b"first\n")
    second = world.add_job("flaky#1", log=b"second\n", retry_source={"job_id": first["id"], "retry_type": "automatic"})
    first.update(retried=True, retried_in_job_id=second["id"])
    world.add_artifact(first, "junit.xml", JUNIT.replace(b"a", b"A"))
    world.add_artifact(second, "junit.xml", JUNIT)
    never = world.add_job("never", state="broken", log=None, started_at=None)
    world.add_build(8, first, second, never, world.add_job("slow", state="running", finished_at=None), state="running")
    world.add_build(9, world.add_job("docs", log=b"docs\n"), branch="feature/x")
    return world


def read(archive: object) -> list[Evidence]:
    warnings: list[str] = []
    found = list(read_archive(open_storage(str(archive)), warnings.append))
    assert warnings == []
    return found


def tree(archive: Path) -> dict[str, bytes]:
    return {path.relative_to(archive).as_posix(): path.read_bytes() for path in archive.rglob("*") if path.is_file()}


def told(one: Evidence) -> tuple[str, str, bytes | None, dict[str, bytes]]:
    log = b"".join(one.log.read()) if one.log else None
    return one.build.key, one.job.step, log, {blob.name: b"".join(blob.read()) for blob in one.reports}


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("kind", ["a folder", "a bucket"])
def test_everything_that_ended_is_in_the_archive(
    collect_into: Collect, tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    archive = tmp_path if kind == "a folder" else request.getfixturevalue("bucket")
    progress, warnings = collect_into(archive)
    assert warnings == []
    assert (progress.builds, progress.jobs, progress.logs, progress.artifacts, progress.missed) == (3, 5, 4, 3, 0)
    assert sorted(map(told, read(archive)), key=str) == sorted(
        [
            ("7", "kv", b"kv log\n", {"test-results/junit-1.xml": JUNIT}),
            ("8", "flaky", b"first\n", {"junit.xml": JUNIT.replace(b"a", b"A")}),
            ("8", "flaky", b"second\n", {"junit.xml": JUNIT}),
            ("8", "never", None, {}),
            ("9", "docs", b"docs\n", {}),
        ],
        key=str,
    )


@pytest.mark.usefixtures("history")
def test_retries_keep_their_places_in_the_chain(collect_into: Collect, tmp_path: Path) -> None:
    collect_into(tmp_path)
    flaky = {one.job.attempt: one.job for one in read(tmp_path) if one.job.step == "flaky"}
    assert (flaky[0].exit_status, flaky[1].exit_status, flaky[1].retry_of) == (1, 0, flaky[0].id)


@pytest.mark.usefixtures("history")
def test_no_finished_job_is_fetched_twice_and_a_running_build_is_looked_at_again(
    buildkite: Buildkite, history: World, collect_into: Collect, tmp_path: Path
) -> None:
    collect_into(tmp_path)
    before = tree(tmp_path)
    buildkite.api.seen.clear()
    progress, _ = collect_into(tmp_path)
    assert [request.path.rsplit("/", 1)[-1] for request in buildkite.api.seen] == ["builds"]
    assert (progress.jobs, progress.unchanged) == (0, 2)
    assert tree(tmp_path) == before
    slow = next(job for job in history.builds[1]["jobs"] if job["name"] == "slow")
    slow.update(state="passed", exit_status=0, finished_at=stamp(NOON))
    history.builds[1].update(state="passed", finished_at=stamp(NOON))
    progress, _ = collect_into(tmp_path)
    assert (progress.jobs, progress.logs, progress.unchanged) == (1, 1, 2)
    assert collect_into(tmp_path)[0].unchanged == 3


@pytest.mark.usefixtures("history")
def test_a_job_retried_days_after_is_noticed(history: World, collect_into: Collect, tmp_path: Path) -> None:
    collect_into(tmp_path)
    build = history.find_build("7")
    assert build is not None
    old = build["jobs"][0]
    new = history.add_job("kv#1", log=b"third time\n", retry_source={"job_id": old["id"], "retry_type": "manual"})
    old.update(retried=True, retried_in_job_id=new["id"])
    build["jobs"].append(new)
    progress, _ = collect_into(tmp_path)
    assert (progress.jobs, progress.logs) == (1, 1)
    assert [one.job.attempt for one in read(tmp_path) if one.build.key == "7"] in ([0, 1], [1, 0])


def test_a_build_with_many_jobs_is_read_by_its_cursor_and_keeps_its_agents(
    buildkite: Buildkite, world: World, collect_into: Collect, tmp_path: Path
) -> None:
    for number in (7, 8):
        world.add_build(number, *(world.add_job(f"{number}/job{n}") for n in range(230)))
    for number in range(10, 110):
        world.add_build(number, age=timedelta(minutes=number))
    progress, warnings = collect_into(tmp_path, artifacts=[])
    assert (progress.builds, progress.jobs, warnings) == (102, 460, [])
    assert {one.job.agent for one in read(tmp_path)} == {"l4-1"}
    cursors = [request for request in buildkite.api.seen if request.path.endswith("/jobs")]
    assert len(cursors) == 6
    assert {request.one("per_page") for request in cursors} == {"100"}


def test_after_a_heavy_build_pages_come_without_jobs_and_changes_are_still_seen(
    buildkite: Buildkite, world: World, collect_into: Collect, tmp_path: Path
) -> None:
    heavy = [world.add_job(f"heavy{n}", log=None, started_at=None, state="skipped") for n in range(101)]
    world.add_build(300, *heavy, age=timedelta(hours=1))
    for number in range(1, 151):
        world.add_build(number, world.add_job(f"one{number}"), age=timedelta(days=1, minutes=-number))
    collect_into(tmp_path, artifacts=[])
    listings = [request for request in buildkite.api.seen if request.path.endswith("/builds")]
    assert [request.one("exclude_jobs") for request in listings] == ["", "true"]
    build = world.find_build("1")
    assert build is not None
    build["jobs"].append(world.add_job("one1#1"))
    build["finished_at"] = stamp(NOON)
    progress, _ = collect_into(tmp_path, artifacts=[])
    assert (progress.jobs, progress.unchanged) == (1, 150)


@pytest.mark.usefixtures("history")
def test_where_the_list_of_a_build_hides_artifacts_of_retried_jobs_they_are_asked_for(
    buildkite: Buildkite, collect_into: Collect, tmp_path: Path
) -> None:
    buildkite.rest.hides_retried_artifacts = True
    assert collect_into(tmp_path)[0].artifacts == 3


@pytest.mark.usefixtures("history")
def test_of_failed_jobs_alone_the_others_are_kept_without_log_and_reports(
    buildkite: Buildkite, collect_into: Collect, tmp_path: Path
) -> None:
    progress, _ = collect_into(tmp_path, logs="failed")
    assert (progress.jobs, progress.logs, progress.artifacts) == (5, 1, 1)
    evidence = read(tmp_path)
    assert {one.mode for one in evidence} == {"failed"}
    assert [one.job.exit_status for one in evidence if one.log] == [1]
    buildkite.api.seen.clear()
    progress, _ = collect_into(tmp_path, logs="all")
    assert (progress.jobs, progress.logs, progress.artifacts) == (5, 3, 2)
    assert {one.mode for one in read(tmp_path)} == {"all"}
    assert collect_into(tmp_path, logs="failed")[0].jobs == 0


@pytest.mark.usefixtures("history")
def test_a_pattern_that_is_added_later_brings_what_it_names_and_no_log_again(
    collect_into: Collect, tmp_path: Path
) -> None:
    collect_into(tmp_path, artifacts=["**/junit.xml"])
    progress, _ = collect_into(tmp_path, artifacts=["**/junit.xml", "*.dump"])
    assert (progress.logs, progress.artifacts) == (0, 1)
    assert collect_into(tmp_path, artifacts=["**/junit.xml", "*.dump"])[0].jobs == 0
    assert collect_into(tmp_path, artifacts=["**/junit.xml"])[0].jobs == 0


@pytest.mark.usefixtures("history")
def test_the_window_and_the_branch_choose_the_builds(collect_into: Collect, tmp_path: Path) -> None:
    assert collect_into(tmp_path / "a", since=timedelta(hours=92))[0].builds == 2
    assert collect_into(tmp_path / "b", branch="feature/*")[0].builds == 1


@pytest.mark.usefixtures("history")
def test_the_token_goes_to_the_api_alone(buildkite: Buildkite, collect_into: Collect, tmp_path: Path) -> None:
    """The storage refuses a request that carries it, so the artifacts could not be here otherwise."""
    collect_into(tmp_path)
    assert len(buildkite.storage.seen) == 3
    assert not any("authorization" in request.headers for request in buildkite.storage.seen)
    assert all(request.headers["authorization"] == f"Bearer {CREDENTIAL}" for request in buildkite.api.seen)
    for path in tmp_path.rglob("*"):
        assert CREDENTIAL not in str(path)
    for one in read(tmp_path):
        assert CREDENTIAL.encode() not in b"".join([*(one.log.read() if one.log else ())])


@pytest.mark.usefixtures("history")
def test_a_log_and_an_artifact_that_are_gone_are_no_reason_to_ask_for_ever(
    buildkite: Buildkite, history: World, collect_into: Collect, tmp_path: Path
) -> None:
    kv = history.builds[2]["jobs"][0]["id"]
    del history.logs[kv]
    gone = Fault("gone", Reply(404))
    buildkite.storage.fault = lambda number, _request: gone if number == 1 else None
    progress, [warning] = collect_into(tmp_path)
    assert "is gone; left out" in warning
    assert (progress.jobs, progress.logs, progress.artifacts, progress.missed) == (5, 3, 2, 0)
    assert [one.log for one in read(tmp_path) if one.job.id == kv] == [None]
    assert collect_into(tmp_path)[0].unchanged == 2


@pytest.mark.usefixtures("history")
def test_what_cannot_be_had_now_is_missed_and_had_the_next_time(
    buildkite: Buildkite, history: World, collect_into: Collect, tmp_path: Path
) -> None:
    kv = history.builds[2]["jobs"][0]["id"]
    broken = Fault("broken", Reply(500))
    buildkite.api.fault = lambda _number, request: broken if kv in request.path else None
    progress, [warning] = collect_into(tmp_path)
    assert (progress.jobs, progress.missed) == (4, 1)
    assert f"{kv}/log: the server failed (HTTP 500), 6 times" in warning
    buildkite.api.fault = lambda _number, _request: None
    progress, warnings = collect_into(tmp_path)
    assert (progress.jobs, progress.logs, progress.missed, warnings) == (1, 1, 0, [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scopes": ["read_organizations"]}, "it needs the scope read_builds"),
        ({"scopes": ["read_builds"]}, "it needs the scope read_"),
        ({"scopes": ["read_builds", "read_build_logs"]}, "it needs the scope read_artifacts"),
        ({"org": "acne"}, "knows no organization 'acme'; check the slug before the /"),
        ({"pipeline": "cy"}, "has no pipeline 'ci' that the token may see; check the slug after the /"),
        ({"org": "acne", "scopes": ["read_builds"]}, "no such pipeline"),
        ({"pipeline": "cy", "scopes": ["read_builds"]}, "check both slugs"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("history")
def test_what_is_wrong_with_slug_or_scope_is_said(
    buildkite: Buildkite, collect_into: Collect, tmp_path: Path, change: dict, said: str
) -> None:
    asked = (buildkite.world.org, buildkite.world.pipeline)
    if "scopes" in change:
        buildkite.rest.scopes = frozenset(change["scopes"])
    served = World(change.get("org", asked[0]), change.get("pipeline", asked[1]), buildkite.world.builds)
    served.logs, served.artifacts = buildkite.world.logs, buildkite.world.artifacts
    buildkite.rest.world = served
    with pytest.raises(FlakeReportError) as raised:
        collect_into(tmp_path)
    assert said in str(raised.value)
    assert str(raised.value).startswith("acme/ci: ")


@pytest.mark.usefixtures("history")
def test_a_damaged_memory_of_a_look_is_told_and_made_anew(collect_into: Collect, tmp_path: Path) -> None:
    collect_into(tmp_path)
    (tmp_path / "acme" / "ci" / "7" / "collected.json.zst").write_bytes(b"rubbish")
    progress, [warning] = collect_into(tmp_path)
    assert "collected.json.zst: is no JSON" in warning
    assert (progress.jobs, progress.unchanged) == (0, 1)
    assert collect_into(tmp_path)[1] == []


@pytest.mark.usefixtures("history")
def test_an_archive_that_cannot_be_written_to_is_named(collect_into: Collect, tmp_path: Path) -> None:
    (tmp_path / "acme").write_text("a file where a folder must be")
    with pytest.raises(FlakeReportError, match=r"cannot be (written|read)"):
        collect_into(tmp_path)


@pytest.mark.parametrize(
    "field", ["id", "state", "created_at", "number", "jobs", "type", "step_key", "retried", "agent"]
)
@pytest.mark.parametrize("value", [None, [1], {"a": 1}, "", -1, True], ids=repr)
def test_no_value_of_any_field_is_more_than_a_warning_or_the_one_error(
    history: World, collect_into: Collect, tmp_path: Path, field: str, value: object
) -> None:
    target = history.builds[1] if field in ("created_at", "number", "jobs") else history.builds[1]["jobs"][0]
    target[field] = value
    try:
        progress, _ = collect_into(tmp_path)
    except FlakeReportError:
        return
    assert progress.builds == 3


@pytest.mark.usefixtures("history")
def test_a_build_that_vanishes_meanwhile_is_told_and_the_others_are_kept(
    buildkite: Buildkite, collect_into: Collect, tmp_path: Path
) -> None:
    gone = Fault("gone", Reply(404, b'{"message": "No build found"}'))
    buildkite.api.fault = lambda _number, request: gone if "/builds/7/" in request.path else None
    progress, warnings = collect_into(tmp_path)
    assert (progress.missed, progress.jobs) == (1, 4)
    assert "the artifacts of build 7 cannot be found (HTTP 404: No build found)" in warnings[0]
