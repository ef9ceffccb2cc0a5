"""How fast a log is searched for all signatures, line numbers and captures included, beside ripgrep.

    python tests/bench/bench_scan.py [--rg PATH] [--folder FOLDER] [--megabytes 2000] [--rounds 3]

Makes the logs where FOLDER has none (make_logs.py, 2 GB), then searches the same files with the same patterns: ripgrep
with two threads (`rg -j2 --no-unicode -n`, `-z` for compressed ones) and `Scan` in two processes, their start and the
compiling of the table included. Rounds are interleaved, the best of each is shown; the machine is noisy, so only
ratios within one run mean something. Says how many of the planted failures each found, also those with colours or
stamps inside the message, and the most memory that one process of `Scan` held.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path

import zstandard
from make_logs import make

from flake_report.classify.scan import Scan
from flake_report.classify.signatures import SignatureTable, parse_table
from flake_report.collect.compression import decompressed
from flake_report.parse.joblog import blocks, clean

WORKERS = 2
CHUNK = 1 << 18

Found = set[tuple[str, int]]
"""Log and line of what was found."""


def raw_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.read(CHUNK), b"")


def signatures() -> SignatureTable:
    return parse_table(files("flake_report.classify").joinpath("signatures.toml").read_text("utf-8"), "signatures.toml")


def worked(paths: list[Path]) -> tuple[Found, int]:
    """What one worker finds in its logs, through the reader's blocks and the scan; and the most KiB that it held."""
    table = signatures()
    found: Found = set()
    for path in paths:
        scan = Scan(table, clean)
        for block in blocks(decompressed(path.name, raw_chunks(path))):
            scan.feed(block)
        found |= {(log_of(path), match.line) for match in scan.matches()}
    return found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def log_of(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".zst")


def ours(held: list[int], paths: list[Path]) -> Found:
    """What two processes find; how much each held is added to `held`."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        shares = list(pool.map(worked, [paths[worker::WORKERS] for worker in range(WORKERS)]))
    held += [kib for _, kib in shares]
    return set().union(*(found for found, _ in shares))


def ripgrep(rg: str, patterns: Path, paths: list[Path]) -> Found:
    command = [rg, f"-j{WORKERS}", "--no-unicode", "--no-config", "-n", "-H", "--text", "-f", str(patterns)]
    packed = ["-z"] if paths[0].suffix in {".gz", ".zst"} else []
    done = subprocess.run([*command, *packed, *map(str, paths)], check=False, capture_output=True)
    lines = re.findall(rb"^(.+?\.log(?:\.gz|\.zst)?):(\d+):", done.stdout, re.MULTILINE)
    return {(log_of(Path(name.decode())), int(line)) for name, line in lines}


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@dataclass(frozen=True, order=True)
class Sample:
    """One run: wall seconds, processor seconds, and what was found."""

    wall: float
    processor: float
    found: Found = field(compare=False)

    def told(self, size: int, where: Found, inside: Found) -> str:
        return (
            f"{size / self.wall / 1e9:5.2f} GB/s, {self.processor:6.2f} s of processor, "
            f"{len(self.found & where)} found ({len(self.found & inside)} inside)"
        )


def sampled(run: Callable[[], Found]) -> Sample:
    wall, processor = time.perf_counter(), processor_seconds()
    found = run()
    return Sample(time.perf_counter() - wall, processor_seconds() - processor, found)


def processor_seconds() -> float:
    """Of this process and of the children that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def packed(paths: list[Path], folder: Path, suffix: str) -> list[Path]:
    """Compressed copies, made once."""
    folder.mkdir(exist_ok=True)
    made = []
    for path in paths:
        copy = folder / (path.name + suffix)
        if not copy.exists():
            data = path.read_bytes()
            copy.write_bytes(gzip.compress(data, 6) if suffix == ".gz" else zstandard.compress(data, 3))
        made.append(copy)
    return made


def compare(rg: str, patterns: Path, folder: Path, rounds: int) -> None:
    """Print a line for each kind of file: speeds, their ratio, and what was found of what was planted."""
    paths = sorted(folder.glob("*.log"))
    size = sum(path.stat().st_size for path in paths)
    planted = json.loads((folder / "planted.json").read_text(encoding="utf-8"))
    where = {(one["log"], one["line"]) for one in planted}
    inside = {(one["log"], one["line"]) for one in planted if one["inside"]}
    say(f"{len(paths)} logs, {size / 1e9:.2f} GB, {len(where)} planted, {len(inside)} of them with escapes inside")
    held: list[int] = []
    for kind in ("", ".gz", ".zst"):
        chosen = packed(paths, folder / f"packed{kind}", kind) if kind else paths
        theirs, mine = [], []
        for _ in range(rounds):
            theirs.append(sampled(partial(ripgrep, rg, patterns, chosen)))
            mine.append(sampled(partial(ours, held, chosen)))
        name = kind or "plain"
        say(f"{name:6} rg    {min(theirs).told(size, where, inside)}")
        say(f"{name:6} scan  {min(mine).told(size, where, inside)}, {len(mine[0].found - where)} besides")
        ratio = min(theirs).wall / min(mine).wall, min(theirs).processor / min(mine).processor
        say(f"{name:6} {ratio[0]:5.2f} x as fast as rg, {ratio[1]:5.2f} x by processor time")
    say(f"most memory held by one process: {max(held) / 1024:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rg", default="rg", help="ripgrep 14.1 (as a wheel: pip install ripgrep==14.1.0)")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "flake-report-bench-logs")
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rg = shutil.which(asked.rg)
    if rg is None:
        parser.error(f"no ripgrep at {asked.rg}: pip install ripgrep==14.1.0, or name it with --rg")
    if not (asked.folder / "planted.json").exists():
        make(asked.folder, asked.megabytes, seed=1)
    table = signatures()
    with tempfile.TemporaryDirectory() as scratch:
        patterns = Path(scratch) / "patterns"
        # one name may stand in one expression only, and ripgrep joins all patterns to one
        patterns.write_text("".join(re.sub(r"\(\?P<\w+>", "(?:", row.pattern) + "\n" for row in table.rows), "utf-8")
        compare(rg, patterns, asked.folder, asked.rounds)


if __name__ == "__main__":
    main()
