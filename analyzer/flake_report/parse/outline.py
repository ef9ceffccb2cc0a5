"""Blocks of a job log, in order, to its outline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from flake_report.model.joblog import Block, JobLog, region_at
from flake_report.model.results import Attempt, ParseWarning

from .exitstatus import ExitReader
from .gpulog import GpuReader
from .landmarks import Landmark, LandmarkFinder
from .marks import mark
from .pytestlog import PytestReader
from .pytestresults import attempts_of, regions_of, results, session_of, warnings_of
from .sessionkey import session_key


class Outline:
    """Accumulates what a log says of its job. It decodes the few lines that matter and keeps no others."""

    def __init__(self) -> None:
        self._finder = LandmarkFinder()
        self._exit = ExitReader()
        self._pytest = PytestReader()
        self._gpu = GpuReader()
        self._ends = 0
        self._last: bytes = b""
        self._warnings: list[ParseWarning] = []

    def feed(self, block: Block) -> None:
        """Takes in the next block; the bytes that it repeats are passed over."""
        data, place, kept = block.data, block.overlap, block.overlap
        line = self._ends + 1
        for start, end, kinds in self._finder.find(block):
            line += data.count(b"\n", place, start)
            place = start
            self._pytest.keep(data[kept:start])
            kept = start
            seen = mark(line, data[start:end], kinds)
            if kinds & Landmark.EXIT and self._exit.see(seen):
                self._pytest.stop(line)
            self._pytest.see(seen)
            if kinds & Landmark.GPU:
                self._gpu.see(seen, tested=self._pytest.begun)
        self._pytest.keep(data[kept:])
        self._ends = line - 1 + data.count(b"\n", place)
        self._last = data[-1:] or self._last
        if block.cut:
            self._warn("this line is too long to be held whole: read in pieces", self.lines)

    @property
    def lines(self) -> int:
        """Lines so far; the last one need not end."""
        return self._ends + (self._last not in (b"", b"\n"))

    def result(self) -> JobLog:
        """The outline of all that was fed."""
        self._pytest.stop(max(self.lines, 1))
        found = [results(session) for session in self._pytest.sessions()]
        died = self._exit.status is not None or bool(self._exit.signal)
        keys = _session_keys(one.session.command for one in found)
        attempts: list[Attempt] = []
        for ordinal, (one, key) in enumerate(zip(found, keys, strict=True), 1):
            attempts += attempts_of(one, ordinal, key, died=died or ordinal < len(found))
            self._warnings += warnings_of(one)
        regions = regions_of(found)

        def place(line: int) -> tuple[str, str]:
            region = region_at(regions, line)
            at = next(
                (n for n, one in enumerate(found, 1) if one.session.first_line <= line <= one.session.last_line), 0
            )
            return str(at or ""), region.test if region else ""

        return JobLog(
            lines=self.lines,
            exit_status=self._exit.status,
            signal=self._exit.signal,
            sessions=tuple(session_of(one.session) for one in found),
            attempts=tuple(attempts),
            warnings=tuple(self._warnings),
            regions=regions,
            memory=self._gpu.memory(place),
            engines=self._gpu.engines(place),
        )

    def _warn(self, message: str, line: int) -> None:
        warning = ParseWarning(message, f"line {line}")
        if not self._warnings or self._warnings[-1].place != warning.place:
            self._warnings.append(warning)


def _session_keys(commands: Iterable[str]) -> list[str]:
    """A key for each session's command; equal ones are told apart by their order."""
    seen: Counter[str] = Counter()
    keys = []
    for key in map(session_key, commands):
        seen[key] += 1
        keys.append(f"{key} #{seen[key]}" if key and seen[key] > 1 else key)
    return keys
