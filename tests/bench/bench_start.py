"""How long a person waits: `--help`, and `explain` on a 10 MB log, as multiples of bare Python's start.

Run it by hand: `.venv/bin/python tests/bench/bench_start.py`. Samples are interleaved, medians are shown, since
the machine is noisy: only ratios within one run mean something.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLES = 9
LOG_BYTES = 10_000_000
LINE = (
    b"\x1b_bk;t=1745322209921\x07\x1b[0;36m(EngineCore pid=%d)\x1b[0;0m "
    b"INFO 11-30 10:44:11 [core.py:113] step %d ok\r\r\n"
)
FAILURE = (
    b"ValueError: Free memory on device cuda:0 (4.51/22.05 GiB) on startup is less than desired GPU memory "
    b"utilization (0.47, 10.36 GiB).\n"
    b"\xf0\x9f\x9a\xa8 Error: The command exited with status 1\n"
)


def make_log(path: Path) -> None:
    """A log of ordinary coloured and stamped lines, with the failure at its end."""
    with path.open("wb") as file:
        for number in range(LOG_BYTES // (len(LINE) + 4)):
            file.write(LINE % (number % 9973, number))
        file.write(FAILURE)


def seconds(command: list[str]) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Print each command's median and its ratio to bare Python."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "build.log"
        make_log(log)
        flake_report = str(Path(sys.executable).parent / "flake-report")
        commands = {
            "bare python": [sys.executable, "-c", "pass"],
            "--help": [flake_report, "--help"],
            "explain, 10 MB": [flake_report, "explain", str(log)],
        }
        samples: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(SAMPLES):
            for name, command in commands.items():
                samples[name].append(seconds(command))
    bare = statistics.median(samples["bare python"])
    for name, taken in samples.items():
        middle = statistics.median(taken)
        print(f"{name:16} {middle * 1000:7.0f} ms   {middle / bare:5.1f} x bare python")


if __name__ == "__main__":
    main()
