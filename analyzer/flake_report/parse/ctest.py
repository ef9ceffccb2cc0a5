"""`ctest`: its result lines and its total."""

from __future__ import annotations

import re

from flake_report.model.results import Outcome, TestId

from .marks import Mark
from .runnersession import ResultAt, RunnerSession

_RESULT = re.compile(
    r"(?:\s*\d+/\d+)? +Test +#\d+: (?P<name>\S.*?) \.*\s*(?:\*\*\*)?"
    r"(?P<word>Passed|Failed|Timeout|Not Run|Skipped|Exception: [\w ]+?)(?P<why> \(Disabled\)|  ?Required regular.*)?"
    r"\s+(?P<seconds>\d+\.\d+) sec"
)
_TOTAL = re.compile(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<all>\d+)$")
_WORDS = {
    "Passed": Outcome.PASSED,
    "Failed": Outcome.FAILED,
    "Timeout": Outcome.FAILED,
    "Skipped": Outcome.SKIPPED,
    "Not Run": Outcome.ERROR,  # its program is missing: ctest counts it among the failed
}


class CTest:
    """A run ends with its total. A line without its place in the row is one more attempt of that test."""

    def __init__(self) -> None:
        self.sessions: list[RunnerSession] = []

    def see(self, mark: Mark) -> None:
        if found := _RESULT.match(mark.text):
            outcome = Outcome.SKIPPED if found["why"] == " (Disabled)" else _WORDS.get(found["word"], Outcome.CRASHED)
            message = "" if outcome in (Outcome.PASSED, Outcome.SKIPPED, Outcome.FAILED) else found["word"]
            message = "Timeout" if found["word"] == "Timeout" else message
            test = TestId(found["name"], found["name"])  # as ctest writes it to JUnit
            self._session(mark.line).add(ResultAt(mark.line, test, outcome, float(found["seconds"]), message))
        elif found := _TOTAL.match(mark.text):
            session = self._session(mark.line)
            skipped = sum(one.outcome is Outcome.SKIPPED for one in session.results)
            disabled = len({one.test for one in session.results}) - int(found["all"])
            session.counts["failed"] = int(found["failed"])
            session.counts["skipped"] = skipped
            session.counts["passed"] = int(found["all"]) - int(found["failed"]) - max(skipped - max(disabled, 0), 0)
            session.last_line, session.ended = mark.line, True

    def _session(self, line: int) -> RunnerSession:
        if not self.sessions or self.sessions[-1].ended:
            self.sessions.append(RunnerSession("ctest", line, line))
        return self.sessions[-1]
