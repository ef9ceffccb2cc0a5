"""A machine for the guard: a stub driver whose state a test writes, and the guard's command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

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
    return Machine(tmp_path / "driver-state", {"PATH": str(programs), "PYTHONPATH": str(PLUGIN)})


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts real processes; whatever of them still runs after the test is ended."""
    started: list[subprocess.Popen[str]] = []

    def run(program: str, *, env: dict[str, str], session: bool = True) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", program], env=env, start_new_session=session, stdout=subprocess.PIPE, text=True
        )
        started.append(child)
        return child

    yield run
    for child in started:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()
