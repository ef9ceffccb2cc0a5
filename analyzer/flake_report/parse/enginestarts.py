"""What lines say of engines that start, put together to one record a start.

pytest prints a failure's traceback before the output that led to it, and an error up to six times, with different
pids; so the lines of one test are taken together, and a repeated event counts once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from flake_report.model.record import EngineStart

from .gpulines import OUT_OF_MEMORY, EngineFact

_FRONT_END = "APIServer"
"""A server's process that starts engines and is none."""


@dataclass(frozen=True, slots=True)
class FactAt:
    """A fact with its line, its time, and the vLLM process that told it (`EngineCore pid=7`); empty where none did."""

    line: int
    at: datetime | None
    process: str
    fact: EngineFact


@dataclass(slots=True)
class _Engine:
    line: int
    at: datetime | None
    utilization: float | None = None
    device: str = ""
    outcome: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    processes: dict[str, None] = field(default_factory=dict)

    @property
    def process(self) -> str:
        """The process that the engine has for its own: the first that spoke and that no server's front end is."""
        return next((name for name in self.processes if not name.startswith(_FRONT_END)), "")

    def learn(self, fact: EngineFact) -> None:
        """The first telling of each thing holds: workers repeat each other."""
        self.utilization = fact.utilization if self.utilization is None else self.utilization
        self.device = self.device or fact.device
        self.outcome = self.outcome or fact.outcome
        for name, size in fact.sizes.items():
            self.sizes.setdefault(name, size)

    def knows(self, fact: EngineFact) -> bool:
        """Whether a failure is this engine's, told again."""
        return self.outcome == fact.outcome and all(self.sizes.get(name) == size for name, size in fact.sizes.items())


def engine_starts(facts: Iterable[FactAt], session: str, test: str) -> list[tuple[int, EngineStart]]:
    """The engine starts of one test (or of what lies outside tests), each with its first line."""
    engines: list[_Engine] = []
    orphans: list[FactAt] = []
    for one in facts:
        if one.fact.begins:
            engines.append(_Engine(one.line, one.at, one.fact.utilization))
            continue
        engine = _owner(engines, one)
        if not one.fact.failed:
            if engine is None:
                engine = _Engine(one.line, one.at)
                engines.append(engine)
            engine.learn(one.fact)
        elif engine is not None and not engine.outcome:
            engine.learn(one.fact)
        elif not any(known.knows(one.fact) for known in engines):
            orphans.append(one)
    for one in orphans:
        _adopt(engines, one)
    return [(engine.line, _as_start(engine, session, test)) for engine in sorted(engines, key=lambda one: one.line)]


def _owner(engines: list[_Engine], one: FactAt) -> _Engine | None:
    """The engine of the process that speaks, else the newest, which the process then belongs to."""
    for engine in reversed(engines):
        if one.process and one.process in engine.processes:
            return engine
    if not engines:
        return None
    waiting = [engine for engine in engines if not engine.processes and not engine.outcome]
    engine = waiting[0] if one.process and waiting else engines[-1]
    if one.process:
        engine.processes[one.process] = None
    return engine


def _adopt(engines: list[_Engine], one: FactAt) -> None:
    """A failure told before its engine's own lines: the last engine that says no end is the one that failed."""
    if any(known.knows(one.fact) for known in engines):
        return
    open_ended = [engine for engine in engines if not engine.outcome]
    if open_ended:
        open_ended[-1].learn(one.fact)
    elif one.fact.outcome != OUT_OF_MEMORY:  # any program may run out of memory: that alone is no engine
        engines.append(_Engine(one.line, one.at))
        engines[-1].learn(one.fact)


def _as_start(engine: _Engine, session: str, test: str) -> EngineStart:
    return EngineStart(
        engine.at,
        session,
        test,
        engine.device,
        engine.utilization,
        outcome=engine.outcome,
        line=engine.line,
        process=engine.process,
        **engine.sizes,
    )
