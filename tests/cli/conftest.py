"""The command as a user runs it: arguments in; exit status, output and errors out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from flake_report import demo
from flake_report.cli import main

KNOWN_FAILURE = (
    "ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory "
    "utilization (0.47, 10.36 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
)


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def call(*arguments: object) -> Ran:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        told = capfd.readouterr()
        return Ran(status, told.out, told.err)

    return call


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def red_log(home: Path) -> Path:
    path = home / "build.log"
    path.write_text(f"--- tests\n{KNOWN_FAILURE}\n🚨 Error: The command exited with status 1\n^^^ +++\n")
    return path


@pytest.fixture
def results(home: Path) -> Path:
    """Twenty builds of one job: a test that passes, one that fails in five of them."""
    folder = home / "results"
    for number in range(20):
        job = folder / f"build-{number:02}" / "job"
        job.mkdir(parents=True)
        failure = '<failure message="AssertionError: no">E no</failure>' if number % 4 == 0 else ""
        (job / "junit.xml").write_text(
            f'<testsuites><testsuite name="pytest" tests="2" timestamp="2026-11-{number + 1:02}T06:00:00+00:00">'
            f'<testcase classname="tests.test_a" name="test_good" time="0.1"/>'
            f'<testcase classname="tests.test_a" name="test_bad" time="0.1">{failure}</testcase>'
            "</testsuite></testsuites>"
        )
    return folder


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's history in a store; for reading only."""
    folder = tmp_path_factory.mktemp("demo")
    demo.write_history(folder / "archive")
    assert main(["ingest", str(folder / "archive"), "--store", str(folder / "store")]) == 0
    return folder / "store"
