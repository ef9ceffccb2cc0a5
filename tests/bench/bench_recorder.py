"""What the recorder adds to a test: sessions of trivial tests, recorded and not, turn by turn in one run.

    python tests/bench/bench_recorder.py [--tests 2000] [--rounds 5]

Three rows: no GPU; a stub driver library, whose calls cost what reading a small file costs; and a real GPU with
torch where there is one. Each row's peer is the same session without the recorder. The limits are 1 ms a test
without a GPU and 5 ms with one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLUGIN = HERE.parents[1] / "ci" / "gpu-guard-buildkite-plugin"
STUBS = HERE.parent / "ci" / "recorder" / "stubs"

SUITE = """
import pytest
{imports}
@pytest.mark.parametrize("n", range({tests}))
def test_it(n): pass
"""
ON_GPU = "import torch\ntorch.zeros(1, device='cuda')\n"


def seconds(folder: Path, environment: dict[str, str], *, recorded: bool) -> float:
    """The time of one session."""
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}
    env["PYTHONPATH"] = os.pathsep.join([str(PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
    env["GPU_GUARD_RECORD"] = str(folder / "record") if recorded else ""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "gpu_guard.recorder",
        "-p",
        "no:cacheprovider",
        "suite_it.py",
    ]
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def row(name: str, imports: str, environment: dict[str, str], limit_ms: float, *, tests: int, rounds: int) -> bool:
    """Measure one way, print it, and say whether it keeps its limit."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "suite_it.py").write_text(SUITE.format(imports=imports, tests=tests))
        environment = {name: value.format(folder=folder) for name, value in environment.items()}
        (folder / "state").write_text("gpu GPU-stub-0 24117248000 419430400 0\nprocess 1 1000000\n")
        pairs = [
            (seconds(folder, environment, recorded=False), seconds(folder, environment, recorded=True))
            for _ in range(rounds)
        ]
    plain = statistics.median(pair[0] for pair in pairs)
    added = statistics.median((recorded - plain_) * 1000 / tests for plain_, recorded in pairs)
    each = plain * 1000 / tests
    print(f"{name:22} {each:8.3f} {each + added:8.3f} {added:8.3f} {(each + added) / each:7.2f} {limit_ms:6.1f}")
    return added <= limit_ms


def main() -> int:
    """Print the table; 1 where a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    size = {"tests": options.tests, "rounds": options.rounds}
    print(f"{'ms a test':22} {'plain':>8} {'recorded':>8} {'added':>8} {'ratio':>7} {'limit':>6}")
    kept = [row("no GPU", "", {"CUDA_VISIBLE_DEVICES": ""}, 1.0, **size)]
    with tempfile.TemporaryDirectory() as driver:
        compiler = shutil.which("cc")
        if compiler is not None:
            library = f"{driver}/libnvidia-ml.so.1"
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, str(STUBS / "nvml.c")], check=True)
            stub = {"LD_LIBRARY_PATH": driver, "NVML_STUB_STATE": "{folder}/state", "CUDA_VISIBLE_DEVICES": "0"}
            kept.append(row("stub driver", "", stub, 5.0, **size))
    if subprocess.run([sys.executable, "-c", ON_GPU], capture_output=True, check=False).returncode == 0:
        kept.append(row("real GPU, torch", ON_GPU, {}, 5.0, **size))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())
