"""Finds the few lines of a log that say how the job went, in one pass at the speed of memory.

The patterns only nominate lines; the readers decide on the clean text. So a pattern may be loose, but it must
not fire on every line: each hit costs about a microsecond, a nominated line about ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import hyperscan

from flake_report.model.joblog import Block


class Landmark:
    """What a line may tell of, as bits of one number; plain numbers, for they are combined for each hit."""

    EXIT = 1
    COMMAND = 2
    PYTEST = 4
    RUNNER = 8
    GPU = 16


# Literals, or nearly: `explain` compiles them at each start. 50 ms went with the alternations that stood here.
_PATTERNS: tuple[tuple[int, bytes], ...] = (
    (Landmark.EXIT, rb"exited with status "),
    (Landmark.EXIT, rb"interrupted by a signal"),
    (Landmark.EXIT, rb"user command error"),
    (Landmark.EXIT, rb"Received cancellation signal"),
    (Landmark.EXIT, rb"##\[error\]Process completed with exit code"),
    (Landmark.EXIT, rb"##\[error\]The operation was canceled"),
    (Landmark.COMMAND, rb"pytest[ \r\n]"),
    (Landmark.COMMAND, rb"py\.test[ \r\n]"),
    (Landmark.PYTEST, rb"test session starts"),
    (Landmark.PYTEST, rb"short test summary info"),
    (Landmark.PYTEST, rb"= FAILURES ="),
    (Landmark.PYTEST, rb"= ERRORS ="),
    (Landmark.PYTEST, rb"= warnings summary"),
    (Landmark.PYTEST, rb"= PASSES ="),
    (Landmark.PYTEST, rb"= XFAILURES ="),
    (Landmark.PYTEST, rb"= XPASSES ="),
    (Landmark.PYTEST, rb"= slowest "),
    (Landmark.PYTEST, rb"= tests coverage"),
    (Landmark.PYTEST, rb"= xdist: "),
    (Landmark.PYTEST, rb" in \d+\.\d\ds"),
    (Landmark.PYTEST, rb" workers \[\d+ item"),
    (Landmark.PYTEST, rb" worker \[\d+ item"),
    (Landmark.PYTEST, rb"\.py::"),
    (Landmark.PYTEST, rb"PASSED"),
    (Landmark.PYTEST, rb"FAILED"),
    (Landmark.PYTEST, rb"SKIPPED"),
    (Landmark.PYTEST, rb"XFAIL"),
    (Landmark.PYTEST, rb"XPASS"),
    (Landmark.PYTEST, rb"RERUN"),
    (Landmark.PYTEST, rb"ERROR[\x1b\r\n]"),
    (Landmark.PYTEST, rb" _+[\x1b\r\n]"),
    (Landmark.PYTEST, rb"Fatal Python error: "),
    (Landmark.PYTEST, rb"\+\+ Timeout \+\+"),
    (Landmark.RUNNER, rb"--- PASS: "),
    (Landmark.RUNNER, rb"--- FAIL: "),
    (Landmark.RUNNER, rb"--- SKIP: "),
    (Landmark.RUNNER, rb"ok  \t"),
    (Landmark.RUNNER, rb"FAIL\t"),
    (Landmark.RUNNER, rb"\.\.\. ok"),
    (Landmark.RUNNER, rb"\.\.\. FAILED"),
    (Landmark.RUNNER, rb"\.\.\. ignored"),
    (Landmark.RUNNER, rb"\.\.\. \x1b\[3"),
    (Landmark.RUNNER, rb"test result: "),
    (Landmark.RUNNER, rb"/deps/[^ \n]+\)"),
    (Landmark.RUNNER, rb"Doc-tests"),
    (Landmark.RUNNER, rb"\[ +\d+\.\d\d\ds\]"),
    (Landmark.RUNNER, rb" Test +#\d+: "),
    (Landmark.RUNNER, rb'"Action":"pass"'),
    (Landmark.RUNNER, rb'"Action":"fail"'),
    (Landmark.RUNNER, rb'"Action":"skip"'),
    (Landmark.RUNNER, rb"tests passed, \d+ test"),
    (Landmark.GPU, rb" left \d+(?:\.\d+)? [GM]iB"),
    (Landmark.GPU, rb"non-default args: \{"),
    (Landmark.GPU, rb"LLM engine \(v"),
    (Landmark.GPU, rb"Available KV cache memory: "),
    (Landmark.GPU, rb"Actual usage is "),
    (Landmark.GPU, rb"Model loading took "),
    (Landmark.GPU, rb"init engine \(profile"),
    (Landmark.GPU, rb"free_memory="),
    (Landmark.GPU, rb"Free memory on device"),
    (Landmark.GPU, rb"Error in memory profiling"),
    (Landmark.GPU, rb"No available memory for the cache blocks"),
    (Landmark.GPU, rb"KV cache is needed, which is larger"),
    (Landmark.GPU, rb"gpu memory used"),
    (Landmark.GPU, rb"GPU \d+: \d+(?:\.\d+)?GiB/"),
    (Landmark.GPU, rb"out of memory\. Tried to allocate"),
    (Landmark.GPU, rb"NVIDIA-SMI \d"),
    (Landmark.GPU, rb":[0-9A-Fa-f][0-9A-Fa-f]\.\d O"),
    (Landmark.GPU, rb"MiB / +\d+MiB"),
    (Landmark.GPU, rb"\d+MiB \|"),
)

LONGEST = 64 << 10
"""A nominated line that is longer is read by its first and last half of this: progress bars, inlined images."""


@cache
def _database() -> hyperscan.Database:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern for _, pattern in _PATTERNS],
        ids=list(range(len(_PATTERNS))),
        elements=len(_PATTERNS),
        flags=[hyperscan.HS_FLAG_MULTILINE] * len(_PATTERNS),
    )
    return database


class LandmarkFinder:
    """One log's finder. Logs read at the same time need one each: the scratch space is not shared."""

    def __init__(self) -> None:
        self._scratch = hyperscan.Scratch(_database())

    def find(self, block: Block) -> Iterator[tuple[int, int, int]]:
        """Start and end of each nominated line among the block's fresh bytes, in order, with what it may be."""
        data = block.data
        hits: list[tuple[int, int]] = []

        def hit(pattern: int, _start: int, end: int, _flags: int, _context: object) -> None:
            hits.append((end, pattern))

        _database().scan(data, match_event_handler=hit, scratch=self._scratch)
        hits.sort()
        return _lines(data, block.overlap, hits)


def _lines(data: bytes, fresh: int, hits: list[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    start, end, kinds = 0, -2, 0
    for place, pattern in hits:
        if place <= fresh:
            continue
        if place > end + 1:  # a match may take its line feed in
            if kinds:
                yield start, end, kinds
            start = max(data.rfind(b"\n", 0, place - 1) + 1, fresh)
            end = data.find(b"\n", place - 1)
            end, kinds = (len(data) if end < 0 else end), 0
        kinds |= _PATTERNS[pattern][0]
    if kinds:
        yield start, end, kinds
