"""What the guard's check costs a job whose GPU is free, against starting the same Python for nothing.

Run it by hand: `.venv/bin/python tests/bench/bench_guard.py [PYTHON]`. The driver is the stub that the tests use, so
that any machine will do; a real driver adds some 10 ms to open it. The least of several runs is what the code costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "tests" / "ci" / "recorder" / "stubs" / "nvml.c"
PLUGIN = ROOT / "ci" / "gpu-guard-buildkite-plugin"
ROUNDS = 15


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """The least of several runs."""
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        found.append(time.perf_counter() - began)
    return min(found)


def main() -> None:
    """Compile the stub, run each command, print the ratios."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "libnvidia-ml.so.1")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, STUB], check=True)
        state = Path(folder, "state")
        state.write_text(f"gpu GPU-stub-0 {22 * 2**30} 0 0\n")
        environment = {
            **os.environ, "LD_LIBRARY_PATH": folder, "NVML_STUB_STATE": str(state), "PYTHONPATH": str(PLUGIN),
            "CUDA_VISIBLE_DEVICES": "0", "BUILDKITE_JOB_ID": "bench", "BUILDKITE_AGENT_ID": "bench",
        }  # fmt: skip
        check = [python, "-m", "gpu_guard", "check", "--profile", "nixl-hma"]
        nothing = seconds([python, "-c", "pass"], environment)
        print(f"Python alone            {nothing * 1000:6.0f} ms")
        for name, command in (
            ("the check", check),
            ("looking for leftovers", [*check, "--clean-own-leftovers"]),
            ("probe", [python, "-m", "gpu_guard", "probe"]),
        ):
            took = seconds(command, environment)
            print(f"{name:23} {took * 1000:6.0f} ms  {took / nothing:.1f} times Python alone")


if __name__ == "__main__":
    main()
