"""`go test`: the result lines of `-v` and of failures, and `go test -json`."""

from __future__ import annotations

import json
import re
from typing import Any

from flake_report.model.results import Outcome, TestId

from .marks import Mark
from .runnersession import ResultAt, RunnerSession

_RESULT = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \((\d+(?:\.\d+)?)s\)$")
_PACKAGE = re.compile(r"(ok  |FAIL)\t(\S+)(?:\t(?:\(cached\)|\d+(?:\.\d+)?s)| \[(?:build|setup) failed\]|$)")
_OUTCOMES = {"PASS": Outcome.PASSED, "FAIL": Outcome.FAILED, "SKIP": Outcome.SKIPPED}


class GoTest:
    """Results wait for their package's line: it comes after them and alone names it.

    Go says nowhere where a run begins or ends: a package that passed and comes again begins a new session; one that
    failed and comes again is run once more.
    """

    def __init__(self) -> None:
        self.sessions: list[RunnerSession] = []
        self._waiting: list[tuple[int, str, Outcome, float]] = []
        self._passed: set[str] = set()

    def see(self, mark: Mark) -> None:
        for text in mark.parts:
            if found := _RESULT.search(text):
                self._waiting.append((mark.line, found[2], _OUTCOMES[found[1]], float(found[3])))
            elif found := _PACKAGE.match(text):
                self._close(found[2], mark.line, passed=found[1] == "ok  ", built="failed]" not in found[0])
            elif text.startswith("{") and '"Action":"' in text:
                self._see_event(text, mark)

    def _close(self, package: str, line: int, *, passed: bool, built: bool = True) -> None:
        first = self._waiting[0][0] if self._waiting else line
        session = self._session(package, first)
        for at, name, outcome, seconds in self._waiting:
            self._add(session, ResultAt(at, TestId(package, name), outcome, seconds))
        if not built:
            session.counts["error"] += 1
        if passed:
            self._passed.add(package)
        self._waiting.clear()
        session.last_line = line

    def _see_event(self, text: str, mark: Mark) -> None:
        try:
            event: Any = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return
        action, package, name = event.get("Action"), event.get("Package"), event.get("Test")
        outcome = _OUTCOMES.get(str(action).upper())
        if outcome is None or not isinstance(package, str):
            return
        session = self._session(package, mark.line)
        session.last_line = mark.line
        if isinstance(name, str):
            elapsed = event.get("Elapsed")
            seconds = float(elapsed) if isinstance(elapsed, (int, float)) else None
            self._add(session, ResultAt(mark.line, TestId(package, name), outcome, seconds))
        elif outcome is Outcome.PASSED:
            self._passed.add(package)

    def _session(self, package: str, line: int) -> RunnerSession:
        if not self.sessions or package in self._passed:
            self._passed.clear()
            self.sessions.append(RunnerSession("go test", line, line, ended=True))
        return self.sessions[-1]

    @staticmethod
    def _add(session: RunnerSession, result: ResultAt) -> None:
        session.add(result)
        session.counts[result.outcome] += 1
