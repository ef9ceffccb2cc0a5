"""Real pytest runs for the tests of the log reader, each with its log and its JUnit file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from flake_report.model.joblog import JobLog
from flake_report.parse.joblog import Outline, blocks

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "logs"


@dataclass(frozen=True)
class RealRun:
    """What one run of pytest left."""

    log: bytes
    junit: Path


RunPytest = Callable[..., RealRun]


@pytest.fixture
def run_pytest(tmp_path: Path) -> RunPytest:
    """Runs real pytest over a module's text, apart from this project's settings, and returns log and JUnit."""

    def run(
        options: str, source: str, *, ci: bool = False, name: str = "test_everything.py", also: str = ""
    ) -> RealRun:
        suite = tmp_path / "suite"
        (suite / "tests" / "deep").mkdir(parents=True, exist_ok=True)
        for other in (suite / "tests" / "deep").glob("test_*.py"):
            other.unlink()
        (suite / "tests" / "deep" / name).write_text(source)
        if also:
            (suite / "tests" / "deep" / "test_also.py").write_text(also)
        (suite / "pytest.ini").write_text("[pytest]\n")
        junit = tmp_path / "junit.xml"
        kept = {key: value for key, value in os.environ.items() if key not in ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS")}
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                *options.split(),
                f"--junitxml={junit}",
                "-p",
                "no:cacheprovider",
                "tests",
            ],
            cwd=suite,
            env={**kept, **({"CI": "true"} if ci else {}), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "110"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return RealRun(done.stdout, junit)

    return run


@pytest.fixture
def outline() -> Callable[[bytes], JobLog]:
    """The outline of a log that is given whole."""

    def read(data: bytes) -> JobLog:
        reader = Outline()
        for block in blocks([data]):
            reader.feed(block)
        return reader.result()

    return read


@pytest.fixture(scope="session")
def log_fixture() -> Callable[[str], str]:
    return lambda name: (FIXTURES / name).read_text(encoding="utf-8")
