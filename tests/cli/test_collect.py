"""`collect`, and `ingest` of a pipeline, as a user runs them against a real local server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collect.server.buildkite import Buildkite, running
from collect.server.rest import CREDENTIAL
from collect.server.wire import Fault, Reply
from collect.server.world import NOON, World

JUNIT = b'<testsuite name="s"><testcase classname="tests.test_a" name="test_b" time="1"/></testsuite>'


@pytest.fixture
def buildkite(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Buildkite]:
    """Two builds, one of yesterday and one of last month; the environment holds the servers and the token."""
    assert list(home.iterdir()) == []
    world = World()
    now = datetime.now(UTC)
    for number, days in ((1, 30), (2, 1)):
        job = world.add_job(f"unit{number}", log=b"all is well\n")
        world.add_artifact(job, "junit.xml", JUNIT)
        world.add_build(number, job, age=NOON - now + timedelta(days=days))
    with running(world) as servers:
        for name, value in servers.env.items():
            monkeypatch.setenv(name, value)
        yield servers


def test_a_pipeline_comes_into_the_archive_and_the_second_time_costs_one_request(
    run: Callable, buildkite: Buildkite, home: Path
) -> None:
    ran = run("collect", "acme/ci", "--archive", "kept")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == "1 build · 1 job · 1 log · 1 artifact · 0.0 MB · 4 requests → kept\n"
    assert (home / "kept" / "acme" / "ci" / "2" / "build.json.zst").is_file()
    assert run("collect", "acme/ci", "--archive", "kept").out.startswith("1 build (1 unchanged) · 0 jobs")
    assert len(buildkite.api.seen) == 5


@pytest.mark.usefixtures("buildkite")
def test_json_tells_the_same(run: Callable) -> None:
    told = json.loads(run("collect", "acme/ci", "--since", "52w", "--logs", "failed", "--format", "json").out)
    assert told == {
        "archive": "flake-report-archive",
        "builds": 2,
        "unchanged": 0,
        "jobs": 2,
        "logs": 0,
        "artifacts": 0,
        "bytes": 0,
        "missed": 0,
        "requests": 1,
        "warnings": 0,
    }


@pytest.mark.usefixtures("buildkite")
def test_settings_say_what_options_do_not(run: Callable, home: Path) -> None:
    (home / "flake-report.toml").write_text(
        '[collect]\narchive = "here"\nsince = "52w"\nartifacts = []\nbudget = "50%"\nbranch = "ma*"\n'
    )
    ran = run("collect", "acme/ci", "--budget", "90%")
    assert ran.out == "2 builds · 2 jobs · 2 logs · 0 artifacts · 0.0 MB · 3 requests → here\n"


def test_ingest_of_a_pipeline_collects_and_ingests(run: Callable, buildkite: Buildkite) -> None:
    ran = run("ingest", "acme/ci", "--format", "json")
    assert ran.status == 0
    told = json.loads(ran.out)
    assert (told["builds"], told["jobs"], told["attempts"]) == (1, 1, 1)
    assert "1 build · 1 job · 1 log" in ran.err
    job = buildkite.world.add_job("unit3")
    buildkite.world.add_build(3, job, age=NOON - datetime.now(UTC) + timedelta(hours=1))
    told = json.loads(run("ingest", "acme/ci", "--format", "json").out)
    assert (told["builds"], told["jobs"]) == (1, 1)
    assert json.loads(run("show", "--format", "json").out)["health"]["builds"] == 2


@pytest.mark.usefixtures("buildkite")
def test_a_folder_of_that_name_is_no_pipeline(run: Callable, results: Path) -> None:
    (results / "acme" / "ci").mkdir(parents=True)
    (results / "build-00" / "job").rename(results / "acme" / "ci" / "job")
    ran = run("ingest", f"{results.name}/acme")
    assert ran.status == 0


def test_without_a_token_the_places_for_one_are_named(
    run: Callable, buildkite: Buildkite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BUILDKITE_API_TOKEN")
    for command in ("collect", "ingest"):
        ran = run(command, "acme/ci")
        assert ran.status == 2
        assert "BUILDKITE_API_TOKEN" in ran.err
        assert "BUILDKITE_API_TOKEN_FILE" in ran.err
    assert "there is no folder acme/ci" in ran.err
    assert buildkite.api.seen == []


@pytest.mark.usefixtures("buildkite")
def test_no_builds_in_the_window_is_status_1(run: Callable) -> None:
    ran = run("collect", "acme/ci", "--since", "1h")
    assert ran.status == 1
    assert "no builds in that time" in ran.out


def test_a_job_that_is_missed_is_status_1_and_named(
    run: Callable, buildkite: Buildkite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flake_report.collect.transport.Patience.__init__.__defaults__", (2, 1.0, 1.0, 0.0, 0.0))
    buildkite.api.fault = lambda _n, request: Fault("500", Reply(500)) if request.path.endswith("/log") else None
    ran = run("collect", "acme/ci")
    assert ran.status == 1
    assert "/log: the server failed (HTTP 500), 2 times" in ran.err
    assert ran.out.endswith("\n1 job could not be had: run the command again\n")


@pytest.mark.usefixtures("buildkite")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["acme"], "names no pipeline"),
        (["acme/ci/7"], "names no pipeline"),
        (["../ci"], "names no pipeline"),
        (["acme/cy"], "has no pipeline 'cy'"),
        (["acme/ci", "--budget", "2"], "is no share"),
        (["acme/ci", "--since", "soon"], "4w"),
        (["acme/ci", "--archive", "s4://x"], "the object store refuses"),
    ],
)
def test_what_is_wrong_is_one_sentence(run: Callable, arguments: list[str], said: str) -> None:
    ran = run("collect", *arguments)
    assert ran.status == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_the_token_is_in_nothing_that_is_printed_or_kept(run: Callable, buildkite: Buildkite, home: Path) -> None:
    buildkite.rest.scopes = frozenset()
    ran = run("collect", "acme/ci")
    assert ran.status == 2
    assert "read_builds" in ran.err
    buildkite.rest.scopes = frozenset({"read_builds", "read_build_logs", "read_artifacts"})
    second = run("collect", "acme/ci", "--format", "json")
    assert CREDENTIAL not in ran.out + ran.err + second.out + second.err
    assert not [path for path in home.rglob("*") if path.is_file() and CREDENTIAL.encode() in path.read_bytes()]


@pytest.mark.usefixtures("home")
def test_files_of_one_hour_are_one_build_where_the_user_says_so(run: Callable, results: Path) -> None:
    told = json.loads(run("ingest", results, "--build-from", "mtime", "--format", "json").out)
    assert (told["builds"], told["jobs"]) == (1, 20)
