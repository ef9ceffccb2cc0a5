"""`explain URL`, as a user runs it, against a real local server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collect.server.buildkite import Buildkite, running
from collect.server.rest import CREDENTIAL
from collect.server.world import World

RED = (
    b"ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory "
    b"utilization (0.47, 10.36 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n"
    b"\xf0\x9f\x9a\xa8 Error: The command exited with status 1\n"
)
BUILD = "https://buildkite.com/acme/ci/builds/7"


@pytest.fixture
def buildkite(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Buildkite]:
    """A public build with two failed jobs; the environment names its servers. The working folder is empty."""
    assert list(home.iterdir()) == []
    world = World()
    jobs = [world.add_job("kv", state="failed", log=RED), world.add_job("lint", state="failed", soft_failed=True)]
    world.add_build(7, *jobs, world.add_job("docs"))
    with running(world) as servers:
        monkeypatch.delenv("BUILDKITE_API_TOKEN", raising=False)
        for name, value in servers.public_env.items():
            monkeypatch.setenv(name, value)
        yield servers


def test_a_build_is_explained_job_by_job(run: Callable, buildkite: Buildkite) -> None:
    ran = run("explain", BUILD)
    assert (ran.status, ran.err) == (0, "")
    page = f"{buildkite.web.url}/acme/ci/builds/7"
    assert ran.out.startswith(f"kv {page}#")
    assert "4.51 of 22.05 GiB free · asked 10.36 (utilization 0.47) · short by 5.85" in ran.out
    assert f"\n\nlint {page}#" in ran.out


def test_json_has_a_row_for_each_failed_job(run: Callable, buildkite: Buildkite) -> None:
    ran = run("explain", "--format", "json", BUILD)
    logs = json.loads(ran.out)["logs"]
    assert [log["log"].split()[0] for log in logs] == ["kv", "lint"]
    assert logs[0]["log"].startswith(f"kv {buildkite.web.url}/")
    assert logs[0]["causes"][0]["captures"]["free_gib"] == 4.51


def test_a_token_from_a_file_is_used_and_never_printed(
    run: Callable, buildkite: Buildkite, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "token").write_text(f"{CREDENTIAL}\n")
    monkeypatch.setenv("BUILDKITE_API_TOKEN_FILE", str(home / "token"))
    ran = run("explain", BUILD)
    assert ran.status == 0
    assert [request.headers["authorization"] for request in buildkite.api.seen] == [f"Bearer {CREDENTIAL}"] * 3
    assert buildkite.web.seen == []
    assert CREDENTIAL not in ran.out + ran.err


def test_a_log_that_cannot_be_had_is_named_and_the_others_are_explained(run: Callable, buildkite: Buildkite) -> None:
    kv = buildkite.world.builds[0]["jobs"][0]["id"]
    del buildkite.world.logs[kv]
    ran = run("explain", BUILD)
    assert ran.status == 2
    assert f"acme/ci build 7: no log of job {kv}" in ran.err
    assert ran.out.startswith("lint ")


def test_a_build_that_cannot_be_had_is_named_and_a_file_beside_it_is_explained(
    run: Callable, buildkite: Buildkite, red_log: Path
) -> None:
    buildkite.pages.private = True
    ran = run("explain", BUILD, red_log)
    assert ran.status == 2
    assert "acme/ci build 7: is private" in ran.err
    assert "Traceback" not in ran.err
    assert "short by 5.85" in ran.out


def test_a_green_build_says_that_nothing_failed(run: Callable, buildkite: Buildkite) -> None:
    buildkite.world.add_build(8, buildkite.world.add_job("fine"))
    url = BUILD.replace("/7", "/8")
    ran = run("explain", url)
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"flake-report: {url}: no job of this build has failed\n"


@pytest.mark.usefixtures("home")
def test_a_url_of_something_else_is_refused(run: Callable) -> None:
    ran = run("explain", "https://example.com/build.log")
    assert ran.status == 2
    assert "no Buildkite URL" in ran.err
    assert "download the log" in ran.err


def test_explaining_a_file_loads_no_http_client(red_log: Path) -> None:
    program = (
        f"import sys\nfrom flake_report.cli import main\nmain(['explain', {str(red_log)!r}])\n"
        "print(sorted({'requests', 'urllib3'} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "[]"
