"""Finds the few lines of a log that say how the job went, in one pass at the speed of memory.

The patterns only nominate lines; the readers decide on the clean text. So a pattern may be loose, but it must
not fire on every line: each hit costs about a microsecond, a nominated line about ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag
from functools import cache

import hyperscan

from flake_report.model.joblog import Block


class Landmark(IntFlag):
    """What a line may tell of; a line may be several."""

    EXIT = 1
    COMMAND = 2
    PYTEST = 4
    RUNNER = 8
    GPU = 16


_ESC = rb"(?:\x1b\[[0-9;]*m|\x1b_bk;[^\x07\n]{0,40}\x07)"
_END = rb"(?:" + _ESC + rb"|[ \r]|\[[^\]\n]{0,40}\])*$"

_PATTERNS: tuple[tuple[Landmark, bytes], ...] = (
    (Landmark.EXIT, rb"exited with status "),
    (Landmark.EXIT, rb"interrupted by a signal"),
    (Landmark.EXIT, rb"user command error"),
    (Landmark.EXIT, rb"Received cancellation signal"),
    (Landmark.EXIT, rb"##\[error\](?:Process completed with exit code|The operation was canceled)"),
    (Landmark.COMMAND, rb"py\.?test(?:[ \r]|$)"),
    (Landmark.PYTEST, rb"test session starts"),
    (Landmark.PYTEST, rb"short test summary info"),
    (Landmark.PYTEST, rb"=== " + _ESC + rb"*[A-Za-z0-9]"),
    (Landmark.PYTEST, rb"= (?:FAILURES|ERRORS|warnings summary) ="),
    (Landmark.PYTEST, rb" in \d+\.\d\ds"),
    (Landmark.PYTEST, rb" workers? \[\d+ items?\]"),
    (Landmark.PYTEST, rb"\.py::"),
    (Landmark.PYTEST, rb"(?:PASSED|FAILED|SKIPPED|XFAIL|XPASS|RERUN)"),
    (Landmark.PYTEST, rb"(?:%|gw\d+)\]" + _ESC + rb"* " + _ESC + rb"*ERROR"),
    (Landmark.PYTEST, rb"ERROR" + _END),
    (Landmark.PYTEST, rb" _+" + _ESC + rb"*\r*$"),
    (Landmark.PYTEST, rb"^\W*Fatal Python error: "),
    (Landmark.RUNNER, rb"--- (?:PASS|FAIL|SKIP): "),
    (Landmark.RUNNER, rb"(?:ok  |FAIL)\t\S"),
    (Landmark.RUNNER, rb"\.\.\. " + _ESC + rb"*(?:ok|FAILED|ignored)"),
    (Landmark.RUNNER, rb"test result: "),
    (Landmark.RUNNER, rb"running \d+ tests?" + _END),
    (Landmark.RUNNER, rb" Running (?:unittests |tests/|`)"),
    (Landmark.RUNNER, rb" Doc-tests "),
    (Landmark.RUNNER, rb"(?:PASS|FAIL|SIG[A-Z]+|TIMEOUT|TRY \d+ [A-Z]+)" + _ESC + rb"* \[ *\d+\.\d+s\]"),
    (Landmark.RUNNER, rb"Summary" + _ESC + rb"* \[ *\d+\.\d+s\]"),
    (Landmark.RUNNER, rb" Test +#\d+: "),
    (Landmark.RUNNER, rb"tests passed, \d+ tests? failed"),
    (Landmark.GPU, rb"non-default args: \{"),
    (Landmark.GPU, rb"Initializing a V1 LLM engine"),
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
    (Landmark.GPU, rb"\|\s+\d+\s+\S[^|\n]{0,80}\|"),
    (Landmark.GPU, rb"\d+MiB / +\d+MiB"),
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

    def find(self, block: Block) -> Iterator[tuple[int, int, Landmark]]:
        """Start and end of each nominated line among the block's fresh bytes, in order, with what it may be."""
        data = block.data
        hits: list[tuple[int, int]] = []

        def hit(pattern: int, _start: int, end: int, _flags: int, _context: object) -> None:
            hits.append((end, pattern))

        _database().scan(data, match_event_handler=hit, scratch=self._scratch)
        hits.sort()
        return _lines(data, block.overlap, hits)


def _lines(data: bytes, fresh: int, hits: list[tuple[int, int]]) -> Iterator[tuple[int, int, Landmark]]:
    start, end, kinds = 0, -1, Landmark(0)
    for place, pattern in hits:
        if place <= fresh:
            continue
        if place > end:
            if kinds:
                yield start, end, kinds
            start = max(data.rfind(b"\n", 0, place) + 1, fresh)
            end = data.find(b"\n", place)
            end, kinds = (len(data) if end < 0 else end), Landmark(0)
        kinds |= _PATTERNS[pattern][0]
    if kinds:
        yield start, end, kinds
