"""Throws damaged logs at the log reader until the time is up, or one of its promises breaks.

    .venv/bin/python tests/fuzz/fuzz_joblog.py [--seconds 60] [--seed 1]

Seeds are the logs in `tests/fixtures/logs`; each input is a few of them, spliced and damaged. The promises: no
exception, the same outline however the bytes are cut, every line counted, regions in order and inside the log,
clean lines without control characters. An input that breaks one is written to `crash-<seed>-<number>.log` here and
named. `one_input` is what a coverage-guided fuzzer calls.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from random import Random

from fuzzing import promise, spoilt, until

from flake_report.model.joblog import JobLog
from flake_report.parse.joblog import Outline, blocks, clean, unprefix

SEEDS = Path(__file__).resolve().parent.parent / "fixtures" / "logs"
SPICES = (
    b"\x1b_bk;t=1783974787899\x07", b"\x1b[31m", b"\x1b]1337;File=name=YQ==:", b"\x07", b"\r", b"\n", b"\0", b"\xff",
    b"=== test session starts ===", b"=== FAILURES ===", b"___ test_x ___", b"=== short test summary info ===",
    b"tests/a.py::test_x ", b"PASSED", b"RERUN", b"[gw0] [ 5%] FAILED tests/a.py::test_x", b"FAILED tests/a.py::t - e",
    b"=== 1 failed in 0.01s ===",
    b"$ pytest -v && pytest b\n", "🚨 Error: The command exited with status 1".encode(),
    b"| NVIDIA-SMI 580 |", b"|   1MiB /  2MiB |", b"non-default args: {",
    b"[[[[[[", b"]]]]]]", b"(((((", b'{"Action":"pass"',
)  # fmt: skip


def outline(chunks: list[bytes], size: int, overlap: int) -> JobLog:
    reader = Outline()
    for block in blocks(chunks, size, overlap):
        reader.feed(block)
    return reader.result()


def one_input(data: bytes) -> None:
    """Reads an input in two ways and holds the reader to its promises."""
    rng = Random(len(data))
    whole = outline([data], len(data) + 1, 0)
    cuts = sorted({0, len(data), *(rng.randrange(len(data) + 1) for _ in range(5))})
    longest = max(map(len, data.split(b"\n")))
    cut = outline([data[a:b] for a, b in pairwise(cuts)] or [data], max(longest, 4096), 1024)
    promise(cut == whole, "the outline depends on how the bytes are cut")
    promise(whole.lines == data.count(b"\n") + (data[-1:] not in (b"", b"\n")), "lines are lost")
    for one, two in pairwise(whole.regions):
        promise(one.last_line < two.first_line, "regions overlap")
    for region in whole.regions:
        promise(1 <= region.first_line <= region.last_line <= whole.lines, "a region leaves the log")
    for line in data.split(b"\n"):
        text = clean(line)
        promise(not set(text) & set("\x1b\x07\0\r\n"), "a clean line holds control characters")
        promise(text.endswith(unprefix(text)), "a prefix was not at the start")


def damaged(seeds: list[bytes], rng: Random) -> bytes:
    """A few seeds' parts in a row, with bytes dropped, flipped, doubled, and terminal sequences thrown in."""
    data = bytearray()
    for _ in range(rng.randint(1, 4)):
        seed = rng.choice(seeds)
        start = rng.randrange(len(seed))
        data += seed[start : start + rng.randint(1, 6000)]
    return spoilt(data, rng.randint(0, 30), SPICES, rng)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    seeds = [path.read_bytes() for path in sorted(SEEDS.glob("*.txt"))]
    return until(asked.seconds, asked.seed, lambda rng: damaged(seeds, rng), one_input, "log")


if __name__ == "__main__":
    raise SystemExit(main())
