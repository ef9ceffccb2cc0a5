"""What a job log says: blocks of bytes on the way in, sessions and an exit status on the way out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from .record import EngineStart, Leak, MemorySample
from .results import Attempt, ParseWarning

Cleaner: TypeAlias = Callable[[bytes], str]
"""One raw line to the text that a person would read: no stamps, colours or control bytes."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a log. `offset` is the block's first byte in the file, `first_line` its number from 1.

    A block begins with the last `overlap` bytes of the one before (whole lines), so that a message of several
    lines is whole in at least one of the two. `cut` says that the last line was too long to hold and goes on in
    the next block, which then begins in the midst of that line and gives it the same number.
    """

    data: bytes
    first_line: int
    offset: int
    overlap: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """One run of a test runner in the log, from its header to its summary line.

    Counts are the runner's own, from the summary line; `ended` is False where that line never came.
    `command` is empty where the log does not show it; `key` tells equal sessions of different builds.
    `failures` are the node ids of the short summary.
    """

    runner: str
    first_line: int
    last_line: int
    command: str = ""
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    rerun: int = 0
    ended: bool = True
    failures: tuple[str, ...] = ()
    xfailed: int = 0
    xpassed: int = 0
    key: str = ""


class RegionKind(StrEnum):
    """What part of a test's story a stretch of the log tells."""

    RUNNING = "running"
    FAILURE = "failure"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of the log that belong to one test, both ends included; `test` is the node id as the runner prints it.

    RUNNING: from the test's own line to its outcome word. FAILURE: its traceback and captured output.
    SUMMARY: its entry in the short summary.
    """

    first_line: int
    last_line: int
    test: str
    kind: RegionKind


def region_at(regions: Sequence[Region], line: int) -> Region | None:
    """Of regions in order and without overlap, the one that holds this line."""
    after = bisect_right(regions, line, key=lambda region: region.first_line)
    region = regions[after - 1] if after else None
    return region if region is not None and line <= region.last_line else None


@dataclass(frozen=True, slots=True)
class JobLog:
    """The outline of a job log. `exit_status` is None where the log does not say how the command ended.

    `signal` is the signal's name, or "cancellation". `regions` are in order and do not overlap. `memory`, `engines`
    and `leaks` are what the log tells of GPU memory, in order.
    """

    lines: int
    exit_status: int | None = None
    signal: str = ""
    sessions: tuple[Session, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    warnings: tuple[ParseWarning, ...] = ()
    regions: tuple[Region, ...] = ()
    memory: tuple[MemorySample, ...] = ()
    engines: tuple[EngineStart, ...] = ()
    leaks: tuple[Leak, ...] = ()

    def region_at(self, line: int) -> Region | None:
        """The test's region that holds this line, if one does."""
        return region_at(self.regions, line)

    def test_at(self, line: int) -> str | None:
        """The node id of the test that this line tells of; None where it tells of none."""
        region = self.region_at(line)
        return region.test if region is not None else None
