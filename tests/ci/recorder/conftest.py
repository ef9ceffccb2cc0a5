"""Runs real pytest in its own process on test files written for the purpose, and reads what the recorder left."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, parse

import pytest

from ci.pythons import python39

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = ROOT / "ci" / "gpu-guard-buildkite-plugin"
SCHEMA = json.loads((PLUGIN / "gpu_guard" / "attempts.schema.json").read_text())

# Variables that would reach into the session under test from the one that tests it.
FOREIGN = ("GPU_GUARD_", "PYTEST_", "BUILDKITE", "COV_", "FLAKE_REPORT_")

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flake-report-tests"
"""Environments that tests build are kept here, by what is in them: they cost half a minute once."""

ENVIRONMENTS = {
    "pytest 7": ["pytest==7.4.4", "pytest-rerunfailures==13.0", "pytest-xdist==3.5.0", "pytest-forked==1.6.0"],
    "pytest 8": ["pytest==8.4.2", "pytest-rerunfailures==15.1", "pytest-xdist==3.6.1", "pytest-forked==1.7.5"],
    "newest": [
        "pytest", "pytest-rerunfailures", "pytest-xdist", "flaky", "pytest-retry", "buildkite-test-collector==1.9.1",
    ],
    "torch": ["pytest==8.4.2"],
    "python 3.9": ["pytest==8.4.2", "pytest-rerunfailures==15.1", "pytest-xdist==3.6.1"],
}  # fmt: skip

PLUGINS = {
    "xdist": "xdist",
    "rerunfailures": "pytest_rerunfailures",
    "forked": "pytest_forked",
    "flaky": "flaky.flaky_pytest_plugin",
    "retry": "pytest_retry.retry_plugin",
}


@dataclass(frozen=True)
class Run:
    """A finished session: what it printed, and the folder that the recorder wrote."""

    code: int
    output: str
    folder: Path

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of the only attempts file, each one valid."""
        (file,) = self.folder.glob("attempts-*.jsonl")
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        if importlib.util.find_spec("jsonschema") is not None:  # a GPU machine brings its own packages
            import jsonschema

            validator = jsonschema.Draft202012Validator(SCHEMA)
            for line in lines:
                validator.validate(line)
        return lines

    @property
    def attempts(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if "nodeid" in line]

    @property
    def told(self) -> list[tuple[str, int, str]]:
        """Name, number and outcome of each attempt, in the order of the file."""
        return [(line["nodeid"].rpartition("::")[2], line["attempt"], line["outcome"]) for line in self.attempts]

    def of(self, name: str) -> list[dict[str, Any]]:
        """All attempts of the test of this name."""
        return [line for line in self.attempts if line["nodeid"].rpartition("::")[2] == name]

    @property
    def leaks(self) -> dict[str, dict[str, Any]]:
        """The leak of each test that has one."""
        return {line["nodeid"].rpartition("::")[2]: line["leak"] for line in self.attempts if "leak" in line}

    @cached_property
    def junit(self) -> dict[str, Element]:
        """The test cases of the only JUnit file, by name."""
        (file,) = self.folder.glob("junit-*.xml")
        return {case.get("name", ""): case for case in parse(file).iter("testcase")}  # our own file


class Runner:
    """Writes files into a folder of its own and runs pytest there."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder = folder
        self.python = python
        self.record = folder.parent / "record"
        self.extra_env: dict[str, str] = {}
        self.limit = 120

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def command(self, *arguments: str, plugins: tuple[str, ...] = ()) -> list[str]:
        loaded = [word for name in ("gpu_guard.recorder", *plugins) for word in ("-p", PLUGINS.get(name, name))]
        return [str(self.python), "-m", "pytest", *loaded, *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        """This one without what is not meant for the session; no GPU, so that every machine gives the same."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        fixed = {"PYTHONPATH": str(PLUGIN), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CUDA_VISIBLE_DEVICES": ""}
        return {**kept, **fixed, "GPU_GUARD_RECORD": str(self.record), **self.extra_env, **more}

    def run(self, files: Mapping[str, str] | str, *arguments: str, plugins: tuple[str, ...] = (), **env: str) -> Run:
        """Run the session to its end. A lone text is `test_it.py`."""
        self.write({"test_it.py": files} if isinstance(files, str) else files)
        done = subprocess.run(
            self.command(*arguments, plugins=plugins), cwd=self.folder, env=self.environment(**env),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=self.limit, check=False,
        )  # fmt: skip
        return Run(done.returncode, done.stdout, self.record)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Sessions under the Python and the pytest that run this test.

    FLAKE_REPORT_RECORDER names one of ENVIRONMENTS to run them all under that.
    """
    chosen = os.environ.get("FLAKE_REPORT_RECORDER")
    return _runner(tmp_path, _environment(chosen) if chosen else Path(sys.executable))


@pytest.fixture
def runner_of(tmp_path: Path) -> Callable[[Path], Runner]:
    """Sessions under another Python."""
    return lambda python: _runner(tmp_path, python)


def _runner(tmp_path: Path, python: Path) -> Runner:
    folder = tmp_path / "suite"
    folder.mkdir()
    return Runner(folder, python)


@pytest.fixture(scope="session")
def environment() -> Callable[[str], Path]:
    """The Python of one of ENVIRONMENTS, built where it is not there yet; no registry, no test."""
    return _environment


def _environment(name: str) -> Path:
    packages = ENVIRONMENTS[name]
    bases = {"python 3.9": python39, "torch": lambda: Path("/usr/bin/python3")}
    base = bases.get(name, lambda: Path(sys.executable))()
    digest = hashlib.sha256("\n".join([str(base.resolve()), *packages]).encode()).hexdigest()[:12]
    folder = CACHE / f"{name.replace(' ', '-')}-{digest}"
    python = folder / "bin" / "python"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once build it once
        if not (folder / "complete").is_file():
            shared = ["--system-site-packages"] if name == "torch" else []
            _build([str(base), "-m", "venv", *shared, str(folder)], folder, packages)
    return python


def _build(make: list[str], folder: Path, packages: list[str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(make, check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if "Connection" in done.stderr:
        pytest.skip("the package registry cannot be reached")
    assert done.returncode == 0, done.stderr
    (folder / "complete").touch()


@pytest.fixture(scope="session")
def torch_python() -> Path:
    """A Python that has real torch, and pytest: this one, or the system's with what its packages bring."""
    if _has_torch(sys.executable):
        return Path(sys.executable)
    if not _has_torch("/usr/bin/python3"):
        pytest.skip("no torch on this machine")
    return _environment("torch")


def _has_torch(python: str) -> bool:
    return subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def gpu_runner(runner: Runner, nvml_library: Path, tmp_path: Path) -> Runner:
    """Sessions on a machine with one stub GPU, and a stub torch that fills it."""
    state = tmp_path / "gpu-state"
    state.write_text("gpu GPU-stub-0 24117248000 419430400 0\n")
    runner.extra_env = {
        "LD_LIBRARY_PATH": str(nvml_library), "NVML_STUB_STATE": str(state), "CUDA_VISIBLE_DEVICES": "0",
        "PYTHONPATH": f"{PLUGIN}:{nvml_library}:{Path(__file__).parent / 'stubs'}",
    }  # fmt: skip
    return runner
