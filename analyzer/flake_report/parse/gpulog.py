"""GPU memory in the log: samples, and the starts of engines, failed ones and good ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from flake_report.model.record import EngineStart, Leak, MemorySample, SampleMoment

from .enginestarts import FactAt, engine_starts
from .gpulines import Reading, engine_fact, leak_of, process_of, readings
from .marks import KEPT_RESULTS, Mark
from .nvidiasmi import SmiTable

KEPT_LEAKS = 10_000
"""Of one log: a session has one for each test that left memory."""

Place = Callable[[int], tuple[str, str]]
"""From a line to its session and the node id of its test; empty where it has none."""


@dataclass(frozen=True, slots=True)
class _At:
    line: int
    at: datetime | None
    when: SampleMoment
    read: Reading | SmiTable


class GpuReader:
    """Takes in marks; at the end the samples and the engine starts, each printed event once."""

    def __init__(self) -> None:
        self._samples: list[_At] = []
        self._facts: list[FactAt] = []
        self._leaks: list[Leak] = []

    def see(self, mark: Mark, *, tested: bool) -> None:
        """`tested` says that a test session has begun: a table printed before is the job's start."""
        if len(self._samples) + len(self._facts) > KEPT_RESULTS:
            return
        for text in mark.parts:
            last = self._samples[-1].read if self._samples else None
            if "NVIDIA-SMI" in text:
                moment = SampleMoment.AFTER if tested else SampleMoment.JOB_START
                self._samples.append(_At(mark.line, mark.at, moment, SmiTable()))
            elif not (isinstance(last, SmiTable) and last.see(text)):
                self._see_text(text, mark)

    def _see_text(self, text: str, mark: Mark) -> None:
        leak = leak_of(text)
        if leak is not None and len(self._leaks) < KEPT_LEAKS:
            self._leaks.append(Leak(mark.line, "", *leak))
        fact = engine_fact(text)
        if fact is not None:
            self._facts.append(FactAt(mark.line, mark.at, process_of(text), fact))
        for reading in readings(text):
            failed = reading.torch is not None or (fact is not None and fact.failed)
            moment = SampleMoment.ERROR if failed else SampleMoment.BEFORE
            self._samples.append(_At(mark.line, reading.at or mark.at, moment, reading))

    def memory(self, place: Place) -> tuple[MemorySample, ...]:
        """All samples, in order; what one test's failure prints several times, once."""
        seen: set[tuple[str, Reading]] = set()
        found: list[MemorySample] = []
        for one in self._samples:
            test = place(one.line)[1]
            if isinstance(one.read, SmiTable):
                found += _of_table(one, one.read, test)
                continue
            if one.when is SampleMoment.ERROR:
                if (test, one.read) in seen:
                    continue
                seen.add((test, one.read))
            found.append(_of_reading(one, one.read, test))
        return tuple(found)

    def leaks(self, place: Place) -> tuple[Leak, ...]:
        """Who left memory, by the recorder's own summary of each session."""
        return tuple(replace(leak, session=place(leak.line)[0]) for leak in self._leaks)

    def engines(self, place: Place) -> tuple[EngineStart, ...]:
        """All engine starts, in order; one that never said how it ended has no outcome."""
        scopes: dict[tuple[str, str], list[FactAt]] = defaultdict(list)
        for fact in self._facts:
            scopes[place(fact.line)].append(fact)
        starts = [start for (session, test), facts in scopes.items() for start in engine_starts(facts, session, test)]
        return tuple(start for _, start in sorted(starts, key=lambda one: one[0]))


def _of_table(one: _At, table: SmiTable, test: str) -> Iterator[MemorySample]:
    for name, device in table.devices.items():
        holders = tuple(device.holders)
        yield MemorySample(
            one.at, name, one.when, total=device.total, used=device.used, holders=holders, test=test, line=one.line
        )


def _of_reading(one: _At, reading: Reading, test: str) -> MemorySample:
    return MemorySample(
        at=one.at,
        device=reading.device,
        when=one.when,
        free=reading.free,
        total=reading.total,
        used=reading.used,
        torch_reserved=reading.torch,
        holders=reading.holders,
        test=test,
        line=one.line,
    )
