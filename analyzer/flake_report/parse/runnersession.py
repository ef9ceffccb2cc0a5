"""What readers of plain runners (go test, cargo test, ctest) hand on: sessions with their result lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from flake_report.model.joblog import Session
from flake_report.model.results import Attempt, Outcome, ResultSource, TestId

from .marks import KEPT_RESULTS, Mark


@dataclass(frozen=True, slots=True)
class ResultAt:
    """One result line; these runners print it when the test is over."""

    line: int
    test: TestId
    outcome: Outcome
    seconds: float | None = None
    message: str = ""


@dataclass(slots=True)
class RunnerSession:
    """One run of a runner; `counts` are its own where it prints any, else those of its lines."""

    runner: str
    first_line: int
    last_line: int
    results: list[ResultAt] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    ended: bool = False

    def add(self, result: ResultAt) -> None:
        if len(self.results) < KEPT_RESULTS:
            self.results.append(result)
        self.last_line = max(self.last_line, result.line)


class RunnerReader(Protocol):
    """Reads one runner's lines."""

    sessions: list[RunnerSession]

    def see(self, mark: Mark) -> None: ...


def as_session(found: RunnerSession) -> Session:
    counts = found.counts
    return Session(
        runner=found.runner,
        first_line=found.first_line,
        last_line=found.last_line,
        passed=counts["passed"],
        failed=counts["failed"] + counts["crashed"],
        errors=counts["error"],
        skipped=counts["skipped"],
        ended=found.ended,
        failures=tuple(dict.fromkeys(str(one.test) for one in found.results if one.outcome.bad)),
    )


def as_attempts(found: RunnerSession, ordinal: int) -> Iterator[Attempt]:
    """A test's further results in one session are further attempts."""
    numbers: Counter[TestId] = Counter()
    for position, one in enumerate(found.results):
        yield Attempt(
            test=one.test,
            outcome=one.outcome,
            number=numbers[one.test],
            seconds=one.seconds,
            message=one.message,
            session=str(ordinal),
            position=position,
            source=ResultSource.LOG,
        )
        numbers[one.test] += 1
