"""One pytest session of a job: what it prints, and what its JUnit report says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from .engine import engine_lines
from .joblog import JobLog
from .plan import PlannedJob, share
from .story import Engine, Failure, Session, Setting, Test, template

_WIDTH = 80
_PLACE = re.compile(r"^(\S+\.py)(:\d+: )", re.MULTILINE)
_ERROR = re.compile(r"^(E .*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """One test that ended; `message` and `text` are empty where it did not fail."""

    test: Test
    seconds: float
    message: str = ""
    text: str = ""


@dataclass(slots=True)
class PytestRun:
    """A session while it runs in `log`; `ended` stays False where the agent was lost before its summary."""

    log: JobLog
    session: Session
    job: PlannedJob
    setting: Setting
    started_at: datetime
    cases: list[Case] = field(default_factory=list)
    ended: bool = False

    @property
    def failed(self) -> list[Case]:
        return [case for case in self.cases if case.message]

    @property
    def seconds(self) -> float:
        """How long it has run, by the job's clock."""
        return (self.log.now - self.started_at).total_seconds()

    def run(self, tests: Sequence[Test]) -> None:
        """All tests in order, then the failures and the summary."""
        self._head(len(tests))
        for place, test in enumerate(tests):
            if self.job.lost and test.engine and test.engine.utilization is None:
                self.log.child(f"{test.nodeid} {{+9.1}}{self._engine(test, test.engine, starts=False)}")
                return
            self._test(test, 100 * (place + 1) // len(tests))
        self._tail()
        self.ended = True

    def _head(self, count: int) -> None:
        self.log.child(f"{{bold}}{rule('=', 'test session starts')}{{off}}")
        self.log.child("platform linux -- Python 3.12.11, pytest-8.3.5, pluggy-1.5.0 -- /usr/bin/python3")
        self.log.child("cachedir: .pytest_cache\nrootdir: /vllm-workspace/tests")
        self.log.child("plugins: anyio-4.6.2.post1, timeout-2.3.1, rerunfailures-14.0, forked-1.6.0, asyncio-0.24.0")
        self.log.child(f"{{bold}}collecting ... {{off}}{{+4.2}}collected {count} items\n")

    def _test(self, test: Test, percent: int) -> None:
        before = self.log.now
        failure = self.job.failures.get(test.function)
        seconds = round(test.seconds * (0.9 + 0.2 * share(self.job.id, test.nodeid)), 3)
        word, colour = ("FAILED", "red") if failure else ("SKIPPED", "yellow") if test.skip else ("PASSED", "green")
        shown = f"{{{colour}}}{word}{{off}}{f' ({test.skip})' if test.skip else ''}"
        if not self.session.shows_output:
            left = len(f"{test.nodeid} {word}") + (len(test.skip) + 3 if test.skip else 0)
            progress = f"[{percent:3}%]".rjust(max(_WIDTH - left, 7))
            self.log.child(f"{test.nodeid} {{+{seconds}}}{shown}{{green}}{progress}{{off}}")
        elif test.engine:
            starts = failure is None or failure.free_gib is None
            self.log.child(f"{test.nodeid} {{+4.3}}{self._engine(test, test.engine, starts=starts)}")
            spent = (self.log.now - before).total_seconds()
            self.log.child(f"{{+{max(seconds - spent if starts else 0.3, 0.01):.3f}}}{shown}")
        else:
            self.log.child(f"{test.nodeid} {{+{seconds}}}{shown}")
        took = (self.log.now - before).total_seconds()
        self.cases.append(Case(test, took, *(self._failed(failure) if failure else ("", ""))))

    def _engine(self, test: Test, engine: Engine, *, starts: bool) -> str:
        left_free = [failure.free_gib for failure in self.job.failures.values() if failure.free_gib is not None]
        return engine_lines(
            engine,
            utilization=self.setting.utilization if engine.utilization is None else engine.utilization,
            total_gib=self.job.step.total_gib,
            free_gib=left_free[0] if left_free else None,
            seed=f"{self.job.id}/{test.nodeid}",
            starts=starts,
        )

    def _failed(self, failure: Failure) -> tuple[str, str]:
        took = f"{1.02 + share(self.job.id, 'transfer'):.3f}"
        message = failure.message.replace("$seconds", took)
        epoch = f"{self.log.now.timestamp() + share(self.job.id, 'epoch') / 1000:.7f}"
        text = template(failure.text).substitute(message=message, seconds=took, epoch=epoch)
        return message, text.removesuffix("\n")

    def _tail(self) -> None:
        self.log.child("")
        if self.failed:
            self.log.child(rule("=", "FAILURES"))
        for case in self.failed:
            self.log.child(f"{{red}}{{bold}}{rule('_', case.test.nodeid.rpartition('::')[2])}{{off}}")
            self.log.child(_ERROR.sub(r"{bold}{red}\1{off}", _PLACE.sub(r"{bold}{red}\1{off}\2", case.text)))
        self.log.child(rule("-", f"generated xml file: /vllm-workspace/tests/{self.session.report}"))
        if self.failed:
            self.log.child(f"{{cyan}}{{bold}}{rule('=', 'short test summary info')}{{off}}")
        for case in self.failed:
            path, _, name = case.test.nodeid.rpartition("::")
            self.log.child(f"{{red}}FAILED{{off}} {path}::{{bold}}{name}{{off}} - {case.message}")
        self._summary()

    def _summary(self) -> None:
        skipped = sum(bool(case.test.skip) for case in self.cases)
        passed = len(self.cases) - skipped - len(self.failed)
        main = "red" if self.failed else "green"
        counts = [(len(self.failed), "failed", "red"), (passed, "passed", "green"), (skipped, "skipped", "yellow")]
        words = [(f"{count} {word}", colour) for count, word, colour in counts if count]
        minutes, seconds = divmod(int(self.seconds), 60)
        took = f" in {self.seconds:.2f}s" + (f" (0:{minutes:02}:{seconds:02})" if minutes else "")
        line = rule("=", ", ".join(word for word, _ in words) + took)
        left, right = line.split(" ", 1)[0], line.rsplit(" ", 1)[1]
        shown = ", ".join(f"{{{colour}}}{'{bold}' if colour == main else ''}{word}{{off}}" for word, colour in words)
        self.log.child(f"{{{main}}}{left} {shown}{{{main}}}{took}{{off}}{{{main}}} {right}{{off}}")


def rule(char: str, title: str) -> str:
    """A title in a line of 80 characters, as pytest draws it."""
    side = char * max((_WIDTH - len(title) - 2) // 2, 1)
    line = f"{side} {title} {side}"
    return line + char if len(line) < _WIDTH else line
