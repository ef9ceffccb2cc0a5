"""Blocks of a job log, in order, to its outline."""

from __future__ import annotations

from flake_report.model.joblog import Block, JobLog
from flake_report.model.results import ParseWarning

from .assemble import assemble
from .cargotest import CargoTest, Nextest
from .ctest import CTest
from .exitstatus import ExitReader
from .gotest import GoTest
from .gpulog import GpuReader
from .landmarks import Landmark, LandmarkFinder
from .marks import Mark, mark
from .pytestlog import PytestReader
from .runnersession import RunnerReader


class Outline:
    """Accumulates what a log says of its job. It decodes the few lines that matter and keeps no others."""

    def __init__(self) -> None:
        self._finder = LandmarkFinder()
        self._exit = ExitReader()
        self._pytest = PytestReader()
        self._gpu = GpuReader()
        self._runners: tuple[RunnerReader, ...] = (GoTest(), CargoTest(), Nextest(), CTest())
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
            self._see(mark(line, data[start:end], kinds))
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
        others = [session for reader in self._runners for session in reader.sessions]
        return assemble(
            self.lines,
            ended=self._exit,
            pytest=self._pytest.sessions(),
            others=others,
            gpu=self._gpu,
            warnings=self._warnings,
        )

    def _see(self, seen: Mark) -> None:
        if seen.kinds & Landmark.EXIT and self._exit.see(seen):
            self._pytest.stop(seen.line)
        self._pytest.see(seen)
        if seen.kinds & Landmark.GPU:
            self._gpu.see(seen, tested=self._pytest.begun)
        if seen.kinds & Landmark.RUNNER and not self._pytest.at_work:
            for reader in self._runners:
                reader.see(seen)

    def _warn(self, message: str, line: int) -> None:
        warning = ParseWarning(message, f"line {line}")
        if not self._warnings or self._warnings[-1].place != warning.place:
            self._warnings.append(warning)
