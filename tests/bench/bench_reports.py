"""How fast result files are read, and in how much memory, against junitparser and `xmllint --stream` in the same run.

    .venv/bin/python tests/bench/bench_reports.py [--megabytes 200] [--files 5000] [--samples 5]

One pytest report of 442,500 cases (a twentieth failed, some skipped, flaky or with output), and many small ones of
fifteen cases. `counted` is what `flake-report parse` does; `attempts` makes and hands out a record of every attempt, as
`ingest` needs; junitparser reads and walks the same facts. Each sample is a process of its own, samples are
interleaved, medians are shown. The machine is noisy: only ratios within one run mean something.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

CASES = 442_500
STEP = "        step_{0} = engine.step(request_{0}, timeout=30, block_size=16)  # step {0}\n"
FRAME = (
    "    def test_step_{0}(self, engine):\n{1}&gt;       assert step_3.free_memory == limit[{0}], 'free memory {0}'\n"
    "E       AssertionError: free memory {0}\nE       assert 11 == 10\n"
    "E        +  where 11 = &lt;Step object at 0x7f{0}&gt;.free_memory\n\n"
    "vllm/v1/worker/gpu_worker.py:{0}: AssertionError\n"
)
TRACE = "".join(FRAME.format(frame, "".join(STEP.format(step) for step in range(6))) for frame in range(7))
OUTPUT = "INFO worker ready in 0.1 s\n" * 36

OURS = """
import sys
from flake_report.parse.reports import read_report
def chunks(path):
    with open(path, "rb", buffering=0) as file:
        while block := file.read(262_144):
            yield block
emit = None if sys.argv[1] == "counted" else lambda attempt: None
for path in open(sys.argv[2]).read().split():
    assert read_report(path, chunks(path), emit).complete
"""
JUNITPARSER = """
import sys
from junitparser.xunit2 import JUnitXml
for path in open(sys.argv[2]).read().split():
    for suite in JUnitXml.fromfile(path):
        suite.name, suite.tests, suite.hostname, suite.timestamp
        for case in suite:
            case.classname, case.name, case.time, case.system_out, case.system_err
            for result in case.result:
                result.message, result.type, result.text
            for earlier in case.interim_result:
                earlier.message, earlier.type, earlier.stack_trace, earlier.system_out
"""


def case(number: int, rng: Random) -> str:
    """One element, as pytest writes it."""
    classname = f"tests.v1.kv_connector.unit.test_module_{number // 200}.TestGroup{number // 20}"
    name = f"test_fewer_blocks[{number}-google/gemma-3-1b-it-float16-{number % 7}]"
    start = f'<testcase classname="{classname}" name="{name}" time="{rng.random() * 9:.3f}"'
    drawn = rng.random()
    if drawn < 0.05:
        message = f"AssertionError: free memory {number}&#10;assert 11 == 10"
        return f'{start}><failure message="{message}">{TRACE}</failure></testcase>'
    if drawn < 0.08:
        return f"{start}><system-out>line {number}\n{OUTPUT}\n</system-out></testcase>"
    if drawn < 0.09:
        return f'{start}><skipped type="pytest.skip" message="no GPU">tests/x.py:{number}: no GPU</skipped></testcase>'
    if drawn < 0.091:
        return f'{start}><flakyFailure message="m"><stackTrace>{TRACE[:300]}</stackTrace></flakyFailure></testcase>'
    return f"{start} />"


def report(first: int, cases: int, rng: Random) -> Iterator[str]:
    """A whole document, in pieces."""
    yield (
        '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" '
        f'failures="0" skipped="0" tests="{cases}" time="1" timestamp="2026-11-20T10:00:00+00:00" hostname="h">'
    )
    for number in range(first, first + cases):
        yield case(number, rng)
    yield "</testsuite></testsuites>"


def run(command: list[str]) -> tuple[float, float]:
    """Seconds of processor time, and the peak of memory in MB, of one process."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=-3); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True, text=True)
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def compare(title: str, size: int, commands: dict[str, list[str]], samples: int) -> None:
    """Prints a row a command: median time, speed, its ratio to the peers, and peak memory."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(samples):
        for name, command in commands.items():
            taken[name].append(run(command))
    medians = {name: statistics.median(seconds for seconds, _ in rows) for name, rows in taken.items()}
    say(f"\n{title}: {size / 1e6:,.0f} MB, {samples} samples")
    say(f"{'':14}{'s':>8}{'MB/s':>8}{'x junitparser':>15}{'x xmllint':>11}{'peak MB':>9}")
    for name, seconds in medians.items():
        xmllint = f"{medians['xmllint'] / seconds:11.2f}" if "xmllint" in medians else f"{'-':>11}"
        peak = max(megabytes for _, megabytes in taken[name])
        speed, ratio = size / 1e6 / seconds, medians["junitparser"] / seconds
        say(f"{name:14}{seconds:8.2f}{speed:8.0f}{ratio:15.2f}{xmllint}{peak:9.0f}")


def say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--samples", type=int, default=5)
    asked = parser.parse_args()
    rng = Random(7)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        big, listed, small = Path(folder) / "big.xml", Path(folder) / "big.txt", Path(folder) / "small.txt"
        with big.open("w") as file:
            file.writelines(report(0, int(CASES * asked.megabytes / 200), rng))
        listed.write_text(str(big))
        paths = []
        for number in range(asked.files):
            path = Path(folder) / f"{number}.xml"
            path.write_text("".join(report(number * 25, rng.randint(5, 25), rng)))
            paths.append(path)
        small.write_text("\n".join(map(str, paths)))
        python = [sys.executable, "-c"]
        for title, files, size in (
            ("one large report", listed, big.stat().st_size),
            (f"{asked.files:,} small reports", small, sum(path.stat().st_size for path in paths)),
        ):
            commands = {
                "junitparser": [*python, JUNITPARSER, "-", str(files)],
                "counted": [*python, OURS, "counted", str(files)],
                "attempts": [*python, OURS, "attempts", str(files)],
            }
            if files is listed and shutil.which("xmllint"):
                commands["xmllint"] = ["xmllint", "--stream", "--noout", str(big)]
            compare(title, size, commands, asked.samples)
    say(f"\n{time.monotonic() - started:.0f} s in all")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
