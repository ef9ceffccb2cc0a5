"""`cargo test` and `cargo nextest run`."""

from __future__ import annotations

import re

from flake_report.model.results import Outcome, TestId

from .marks import Mark
from .runnersession import ResultAt, RunnerSession

_BINARY = re.compile(r"\s*Running (?:unittests \S+|\S+) \(\S*[/\\](?P<name>[\w-]+?)-[0-9a-f]+(?:\.exe)?\)$")
_DOC = re.compile(r"\s*Doc-tests (?P<name>\S+)$")
_RESULT = re.compile(r"test (?P<name>\S.*?)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored)(?:, (?P<why>.*))?$")
_TOTAL = re.compile(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
_NEXTEST = re.compile(
    r"\s*(?:TRY (?P<try>\d+) )?(?P<word>PASS|LEAK|FAIL|ABORT|TIMEOUT|SIG[A-Z]+) \[\s*(?P<seconds>\d+\.\d+)s\] "
    r"(?:[(\[]\s*\d+/\d+[)\]] )?(?P<binary>\S+) (?P<name>\S.*)$"
)
_SUMMARY = re.compile(r"\s*Summary \[\s*\d+\.\d+s\] (?P<rest>.*)$")
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|timed out)")
_WORDS = {"ok": Outcome.PASSED, "FAILED": Outcome.FAILED, "ignored": Outcome.SKIPPED}
_NEXTEST_WORDS = {"PASS": Outcome.PASSED, "LEAK": Outcome.PASSED, "FAIL": Outcome.FAILED, "TIMEOUT": Outcome.FAILED}


class CargoTest:
    """A run is a row of test binaries, each with its own total; a binary that comes again begins a new session."""

    def __init__(self) -> None:
        self.sessions: list[RunnerSession] = []
        self._binary = ""
        self._seen: set[str] = set()

    def see(self, mark: Mark) -> None:
        text = mark.text
        if found := _BINARY.match(text):
            self._begin(found["name"], mark.line)
        elif found := _DOC.match(text):
            self._begin(f"{found['name']} (doc)", mark.line)
        elif found := _RESULT.match(text):
            outcome, why = _WORDS[found["word"]], found["why"] or ""
            self._session(mark.line).add(ResultAt(mark.line, TestId(self._binary, found["name"]), outcome, message=why))
        elif found := _TOTAL.match(text):
            session = self._session(mark.line)
            for name, count in zip(("passed", "failed", "skipped"), found.groups(), strict=True):
                session.counts[name] += int(count)
            session.last_line, session.ended = mark.line, True

    def _begin(self, binary: str, line: int) -> None:
        if not self.sessions or binary in self._seen:
            self._seen.clear()
            self.sessions.append(RunnerSession("cargo test", line, line))
        self._binary = binary
        self._seen.add(binary)
        self.sessions[-1].ended = False

    def _session(self, line: int) -> RunnerSession:
        if not self.sessions:
            self.sessions.append(RunnerSession("cargo test", line, line))
        return self.sessions[-1]


class Nextest:
    """nextest repeats its failures behind its summary: what follows that is the next run, or nothing new."""

    def __init__(self) -> None:
        self.sessions: list[RunnerSession] = []

    def see(self, mark: Mark) -> None:
        if found := _NEXTEST.match(mark.text):
            test = TestId(found["binary"], found["name"])
            outcome = _NEXTEST_WORDS.get(found["word"], Outcome.CRASHED)
            result = ResultAt(mark.line, test, outcome, float(found["seconds"]))
            if self.sessions and self.sessions[-1].ended and self._repeats(result):
                return
            if not self.sessions or self.sessions[-1].ended:
                self.sessions.append(RunnerSession("cargo nextest", mark.line, mark.line))
            self.sessions[-1].add(result)
        elif (found := _SUMMARY.match(mark.text)) and self.sessions and not self.sessions[-1].ended:
            session = self.sessions[-1]
            for count, name in _COUNT.findall(found["rest"]):
                session.counts["failed" if name == "timed out" else name] += int(count)
            session.last_line, session.ended = mark.line, True

    def _repeats(self, result: ResultAt) -> bool:
        return any(
            (one.test, one.outcome, one.seconds) == (result.test, result.outcome, result.seconds)
            for one in self.sessions[-1].results
        )
