"""Runs the plugin's hooks as the agent does: by the real agent's bootstrap, on a stub driver, against a local API."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ci.plugin.agent_api import ACCESS, AgentApi

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = ROOT / "ci" / "gpu-guard-buildkite-plugin"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flake-report"
BUILD = Path(__file__).parent / "agent" / "build.sh"
AGENT = CACHE / f"buildkite-agent-{re.findall('version=(.+)', BUILD.read_text())[0]}" / "buildkite-agent"
GIB = 2**30

FOREIGN = ("GPU_GUARD_", "PYTEST_", "PYTHON", "BUILDKITE", "COV_", "FLAKE_REPORT_", "CUDA_", "NVIDIA_", "GIT_")
"""Variables that would reach into a job under test from the session that tests it."""


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}


@dataclass
class Driver:
    """The stub NVIDIA driver: `fill` says how full its one card is, now and for whoever reads later."""

    folder: Path
    state: Path
    total: int = 22 * GIB

    def fill(self, used_gib: float, pid: int | None = None) -> None:
        used = round(used_gib * GIB)
        who = f"process {pid} {used}" if pid is not None else f"unlisted {used}"
        self.state.write_text(
            f"gpu GPU-stub-0 {self.total} 0 0\n{who}\n" if used else f"gpu GPU-stub-0 {self.total} 0 0\n"
        )

    def none(self) -> None:
        self.state.write_text("")

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": str(self.folder), "NVML_STUB_STATE": str(self.state)}


@dataclass
class Job:
    """How a job ended, and what its log says."""

    code: int
    log: str


@dataclass
class Agent:
    """One agent with one repository. `environment` is added to every job's; `path` stands first on PATH."""

    folder: Path
    driver: Driver
    api: AgentApi
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def programs(self) -> Path:
        return self.folder / "programs"

    @property
    def checkout(self) -> Path:
        return self.folder / "builds" / "an-agent" / "an-org" / "a-pipeline"

    def commit(self, files: Mapping[str, str], *, vendored: bool = True) -> None:
        """A repository of these files, with the plugin inside or not."""
        for name, text in files.items():
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if vendored:
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PLUGIN, self.repository / "ci" / PLUGIN.name, ignore=ignore, dirs_exist_ok=True)
        commit_all(self.repository)

    def program(self, name: str, text: str) -> None:
        """A program of this name that jobs find first."""
        self.programs.mkdir(exist_ok=True)
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def variables(self, command: str, plugins: Any, **more: str) -> dict[str, str]:
        return {
            **clean_environment(),
            **self.driver.environment,
            "PATH": f"{self.programs}:{AGENT.parent}:{os.environ['PATH']}",
            "BUILDKITE_AGENT_ACCESS_TOKEN": ACCESS,
            "BUILDKITE_AGENT_ENDPOINT": self.api.url,
            "BUILDKITE_AGENT_NAME": "an-agent",
            "BUILDKITE_BIN_PATH": str(AGENT.parent),
            "BUILDKITE_BRANCH": "main",
            "BUILDKITE_BUILD_ID": "a-build",
            "BUILDKITE_BUILD_NUMBER": "7",
            "BUILDKITE_BUILD_PATH": str(self.folder / "builds"),
            "BUILDKITE_COMMAND": command,
            "BUILDKITE_COMMAND_EVAL": "true",
            "BUILDKITE_COMMIT": "HEAD",
            "BUILDKITE_JOB_ID": "0a-job",
            "BUILDKITE_LABEL": "a step",
            "BUILDKITE_LOCAL_HOOKS_ENABLED": "true",
            "BUILDKITE_ORGANIZATION_SLUG": "an-org",
            "BUILDKITE_PIPELINE_PROVIDER": "git",
            "BUILDKITE_PIPELINE_SLUG": "a-pipeline",
            "BUILDKITE_PLUGINS": json.dumps(plugins),
            "BUILDKITE_PLUGINS_ENABLED": "true",
            "BUILDKITE_PLUGINS_PATH": str(self.folder / "plugins"),
            "BUILDKITE_PLUGIN_VALIDATION": "true",
            "BUILDKITE_PULL_REQUEST": "false",
            "BUILDKITE_REPO": str(self.repository),
            "BUILDKITE_SHELL": "/bin/bash -e -c",
            "TMPDIR": str(self.folder / "tmp"),
            **self.environment,
            **more,
        }

    def start(self, command: str, plugins: Any, **more: str) -> subprocess.Popen[str]:
        (self.folder / "tmp").mkdir(exist_ok=True)
        return subprocess.Popen(
            [str(AGENT), "bootstrap", "--pty=false"], cwd=self.folder, env=self.variables(command, plugins, **more),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, command: str, plugins: Any = None, *, limit: float = 120, **more: str) -> Job:
        """A job from checkout to its end. Without `plugins`, the vendored guard without options."""
        job = self.start(command, guard() if plugins is None else plugins, **more)
        try:
            log, _ = job.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            job.kill()
            raise
        return Job(job.returncode, log)


def guard(**options: Any) -> list[dict[str, Any]]:
    """BUILDKITE_PLUGINS for the vendored guard; `_` stands for `-` in names."""
    return [{f"./ci/{PLUGIN.name}": {name.replace("_", "-"): value for name, value in options.items()}}]


def commit_all(folder: Path) -> None:
    """Make the folder a git repository whose only commit is what is in it."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *who, *command], cwd=folder, env=clean_environment(), check=True, capture_output=True)


def says(job: subprocess.Popen[str], words: str) -> str:
    """The job's log up to the line that holds these words; the whole log where none does."""
    assert job.stdout is not None
    found: list[str] = []
    for line in job.stdout:
        found.append(line)
        if words in line:
            break
    return "".join(found)


def rest(job: subprocess.Popen[str]) -> Job:
    """The end of a job, and what its log had not said yet."""
    assert job.stdout is not None
    with job.stdout as stream:
        log = stream.read()
    return Job(job.wait(timeout=60), log)


def interrupt_when(job: subprocess.Popen[str], sign: Path, how: signal.Signals) -> Job:
    """Send a signal once the job has made the file `sign`."""
    deadline = time.monotonic() + 60
    while not sign.exists() and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    job.send_signal(how)
    log, _ = job.communicate(timeout=60)
    return Job(job.returncode, log)


@pytest.fixture(scope="session")
def driver_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `libnvidia-ml.so.1` that answers from a text file."""
    folder = tmp_path_factory.mktemp("driver")
    source = ROOT / "tests" / "ci" / "recorder" / "stubs" / "nvml.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "libnvidia-ml.so.1", source], check=True)
    return folder


@pytest.fixture
def driver(driver_library: Path, tmp_path: Path) -> Driver:
    found = Driver(driver_library, tmp_path / "gpu-state")
    found.fill(0)
    return found


@pytest.fixture
def api() -> Iterator[AgentApi]:
    server = AgentApi()
    yield server
    server.close()


@pytest.fixture
def agent(driver: Driver, api: AgentApi, tmp_path: Path) -> Agent:
    """The real agent, or a reason why not."""
    if not AGENT.exists():
        pytest.skip(f"buildkite-agent is not built: {BUILD.relative_to(ROOT)} builds it")
    folder = tmp_path / "agent"
    (folder / "repository").mkdir(parents=True)
    found = Agent(folder, driver, api)
    found.commit({"README.md": "a repository\n"})
    return found
