"""A machine for the guard: a stub driver whose state a test writes, and the guard's command in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpu_guard.memory import process

PLUGIN = Path(__file__).resolve().parents[3] / "ci" / "gpu-guard-buildkite-plugin"
GIB = 2**30

FOREIGN = ("GPU_GUARD_", "BUILDKITE", "CUDA_", "NVIDIA_", "HIP_", "ROCR_", "PYTHON")
"""Variables that would reach into the guard under test from the session that tests it."""


@dataclass
class Machine:
    """`environment` is what the guard sees; `state` is the file that the stub driver reads at each call."""

    state: Path
    environment: dict[str, str] = field(default_factory=dict)
    python: str = sys.executable

    def fill(self, *lines: str, total: int = 22 * GIB) -> None:
        """One card and what the driver lists of it, in one step for those who read meanwhile."""
        text = "\n".join([f"gpu GPU-stub-0 {total} 0 0", *lines, ""])
        new = self.state.with_suffix(".new")
        new.write_text(text)
        new.rename(self.state)

    def guard(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """`python -m gpu_guard` with these arguments."""
        return subprocess.run(
            [self.python, "-m", "gpu_guard", *arguments], env={**self.environment, **env}, capture_output=True,
            text=True, check=False, timeout=60,
        )  # fmt: skip

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """The same, left running."""
        command = [self.python, "-m", "gpu_guard", *arguments]
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )  # fmt: skip


@pytest.fixture
def machine(nvml_library: Path, tmp_path: Path) -> Machine:
    """A machine with one empty card of 22 GiB."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    state = tmp_path / "driver-state"
    stub = {"LD_LIBRARY_PATH": str(nvml_library), "NVML_STUB_STATE": str(state), "PYTHONPATH": str(PLUGIN)}
    found = Machine(state, {**kept, **stub})
    found.fill()
    return found


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """A machine without any driver, and without programs."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "libnvidia-ml.so.1").write_text("found before the machine's own, and no library\n")
    environment = {"PATH": str(programs), "LD_LIBRARY_PATH": str(programs), "PYTHONPATH": str(PLUGIN)}
    return Machine(tmp_path / "driver-state", environment)


@dataclass
class Jobs:
    """Real processes of pretended jobs, each in a session of its own; what still runs after the test is ended."""

    this: dict[str, str]
    old: dict[str, str]
    sessions: set[int] = field(default_factory=set)

    def orphan(self, script: str, env: Mapping[str, str]) -> int:
        """Run a line of bash in a session of its own, whose first process is gone when this returns."""
        line = f"{{ {script}; }} </dev/null >/dev/null 2>&1 & echo $!"
        done = subprocess.run(
            ["bash", "-c", line], env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True,
            check=True, start_new_session=True,
        )  # fmt: skip
        pid = int(done.stdout)
        self.sessions.add(process.session_of(pid))
        return pid

    def engine(self, env: Mapping[str, str]) -> int:
        """An orphan with the title of an engine's process."""
        return self.titled(self.orphan("exec -a VLLM::EngineCore sleep 100", env), "VLLM::EngineCore")

    def titled(self, pid: int, title: str) -> int:
        """Wait until a process that was just begun has its title."""
        until = time.monotonic() + 10
        while process.name_of(pid) != title:
            assert time.monotonic() < until, process.name_of(pid)
            time.sleep(0.01)
        return pid


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    """This job, and an old one of the same agent; their names are new for each test."""
    agent = {"BUILDKITE_AGENT_ID": uuid.uuid4().hex, "BUILDKITE_AGENT_NAME": uuid.uuid4().hex}
    this, old = ({"BUILDKITE_JOB_ID": uuid.uuid4().hex, **agent} for _ in range(2))
    found = Jobs({"PATH": "/nonexistent", **this}, old)
    yield found
    for pid in process.every_pid():
        if process.session_of(pid) in found.sessions - {0}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
