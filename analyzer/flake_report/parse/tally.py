"""Counts of a file whose lines are attempts."""

from __future__ import annotations

from dataclasses import dataclass, field

from flake_report.model.results import Attempt, Outcome, ReportSummary

from .problems import Problems

_BAD, _GOOD = 1, 2
_COLUMN = {
    Outcome.PASSED: "passed",
    Outcome.XPASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.CRASHED: "failed",
    Outcome.ERROR: "errors",
    Outcome.SKIPPED: "skipped",
    Outcome.XFAILED: "skipped",  # as JUnit has it
}


@dataclass(slots=True)
class Tally:
    """Adds attempts up; identities are kept as hashes."""

    sessions: int = 0
    columns: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COLUMN.values(), 0))
    _numbers: dict[int, int] = field(default_factory=dict)
    _seen: dict[int, int] = field(default_factory=dict)

    def next_number(self, key: object) -> int:
        """How many attempts of this test in this session came before."""
        return self._numbers.get(hash(key), 0)

    def add(self, key: object, attempt: Attempt) -> None:
        identity = hash(key)
        self._numbers[identity] = self._numbers.get(identity, 0) + 1
        self.columns[_COLUMN[attempt.outcome]] += 1
        self._seen[identity] = self._seen.get(identity, 0) | _BAD * attempt.outcome.bad | _GOOD * attempt.outcome.good

    def summary(self, kind: str, problems: Problems) -> ReportSummary:
        cases = sum(self.columns.values())
        return ReportSummary(
            kind=kind,
            suites=self.sessions,
            cases=cases,
            tests=len(self._numbers),
            reruns=cases - len(self._numbers),
            flaky=sum(seen == _BAD | _GOOD for seen in self._seen.values()),
            complete=not problems.damaged,
            warnings=problems.warnings(),
            **self.columns,
        )
