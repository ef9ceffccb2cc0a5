"""What the guard adds to a job's start where memory is free: the hook's time as a multiple of bare Python's start.

Run it by hand: `.venv/bin/python tests/bench/bench_guard.py`. A stub stands for the NVIDIA driver. Samples are
interleaved, medians are shown, since the machine is noisy: only ratios within one run mean something.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / "ci" / "gpu-guard-buildkite-plugin" / "hooks" / "pre-command"
STUB = ROOT / "tests" / "ci" / "recorder" / "stubs" / "nvml.c"
SAMPLES = 15
MOST = 0.3  # seconds, on an otherwise idle machine


def seconds(command: list[str], environ: dict[str, str], folder: Path) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, env=environ, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Print the medians and their ratio."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "libnvidia-ml.so.1", STUB], check=True)
        (folder / "state").write_text("gpu GPU-stub-0 24117248000 419430400 0\n")
        environ = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": scratch,
            "NVML_STUB_STATE": str(folder / "state"),
            "TMPDIR": scratch,
            "BUILDKITE_PLUGIN_CONFIGURATION": '{"profile": "nixl-hma"}',
        }
        commands = {
            "bare python": [sys.executable, "-I", "-c", "pass"],
            "bash and bare python": ["bash", "-c", f"{sys.executable} -I -c pass"],
            "pre-command, memory free": ["bash", "-c", f". {HOOK}"],
            "pre-command, unrecorded": ["bash", "-c", f"export GPU_GUARD_RECORD=0; . {HOOK}"],
        }
        samples: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(SAMPLES):
            for name, command in commands.items():
                samples[name].append(seconds(command, environ, folder))
    bare = statistics.median(samples["bare python"])
    for name, taken in samples.items():
        middle = statistics.median(taken)
        print(f"{name:26} {middle * 1000:6.0f} ms   {middle / bare:5.1f} × bare Python")
    hook = statistics.median(samples["pre-command, memory free"])
    print(f"{'limit':26} {MOST * 1000:6.0f} ms   {'kept' if hook <= MOST else 'NOT kept'}")


if __name__ == "__main__":
    main()
