"""Gives out what was held: each test's attempts in order, numbered, with one identity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat

from flake_report.model.results import Attempt, Outcome, Phase, TestId

from . import limits
from .junit_case import NO_SUITE, PASSED, Case, Suite
from .junit_dialect import Dialect
from .junit_groups import APART_BY_HOST, BAD, TEARDOWN, Group, Grouping, Key, Meaning, grouping_of, identity
from .junit_held import Held
from .junit_simple import Run, Simple, case_of, names_of, pass_of
from .junit_tries import tries
from .junit_try import Try
from .junit_values import many_seconds, moment, seconds
from .problems import Problems
from .records import Alike, nobody
from .testid import PytestClasses, from_junit


@dataclass(slots=True)
class Progress:
    """How far one group has come. `waiting` failed, and its teardown error follows."""

    element: int = 0
    number: int = 0
    bad: bool = False
    good: bool = False
    waiting: Case | None = None


class Resolver:
    """Turns held cases into attempts; `tests`, `reruns` and `flaky` count what was given out.

    Without `emit` they are counted all the same, but attempts are not made where nothing but their number is asked.
    """

    def __init__(self, emit: Callable[[Attempt], None] | None, problems: Problems) -> None:
        self.tests = 0
        self.reruns = 0
        self.flaky = 0
        self._emit = emit
        self._problems = problems
        self._nameless: dict[str, int] = defaultdict(int)
        self._suite = NO_SUITE
        self._started: datetime | None = None
        self._session = ""
        self._sure = True
        self._passes: Alike | None = None
        self._classes = PytestClasses()
        self._groups: dict[Key, Group] = {}
        self._progress: dict[Key, Progress] = {}
        self._apart: dict[TestId, int] = {}

    def give_out(self, held: Held, *, cases: int, compare: bool, suites: int, sure: bool = True) -> None:
        """All that is held.

        `compare` looks for elements of one identity. `suites` is how many suites hold cases: where there are
        several, each of pytest is a session. Not `sure`: parts of the file have gone before, reruns cannot be told.
        """
        grouping = grouping_of(held, cases, self._problems, more=self._emit is not None) if compare else Grouping()
        self._groups = grouping.groups
        self._progress, self._apart = {}, {}
        sessions: dict[int, str] = {}
        counting = self._emit is None and not self._groups
        for entry in held:
            if isinstance(entry, Suite):
                self._suite = entry
                self._started = None if self._emit is None else moment(entry.stamp)
                self._sure = sure and entry.number not in grouping.losing
                self._session = entry.name if entry.dialect is Dialect.OWN else ""
                if entry.dialect is Dialect.PYTEST and suites > 1:
                    self._session = sessions.setdefault(entry.number, str(len(sessions) + 1))
                self._passes = None
            elif isinstance(entry, Run):
                if counting and entry.named:
                    self.tests += entry.cases
                else:
                    self._run(entry)
            elif isinstance(entry, Simple):
                if counting and names_of(entry)[1] and self._suite.dialect is not Dialect.PLAYWRIGHT:
                    self.tests += 1
                else:
                    self._case(case_of(entry))
            else:
                self._case(entry)

    def _run(self, run: Run) -> None:
        suite = self._suite
        classes, names, times, files = run.columns()
        plain = run.named and all(classes)
        if plain and self._groups:
            keys = map(identity, repeat(suite), classes, names)
            plain = self._groups.keys().isdisjoint(keys)
        if not plain:
            for row in zip(classes, names, times, files, strict=True):
                self._case(pass_of(*row))
            return
        self.tests += run.cases
        if self._emit is None:
            return
        if suite.dialect is Dialect.PYTEST:
            classes = list(map(self._classes.__getitem__, classes))
        emit, self._passes = self._emit, self._passes or Alike(self._plain_pass())
        for attempt in self._passes.rows(classes, names, many_seconds(times), files):
            emit(attempt)

    def _plain_pass(self) -> Attempt:
        """What all plain passes of a suite have in common."""
        test = TestId("", "", self._suite.hostname if self._suite.dialect in APART_BY_HOST else "")
        return Attempt(test, Outcome.PASSED, known=self._sure, started_at=self._started, session=self._session)

    def _case(self, case: Case) -> None:
        suite = self._suite
        if case.category == "suite":
            self._suite_failure(case)
            return
        if suite.dialect is Dialect.PYTEST and not case.name and case.category == PASSED:
            self._problems.note("attempts without a name, of tests that crashed and were run again: left out")
            return
        key = identity(suite, case.classname, case.name) if self._groups and case.name else None
        group = None if key is None else self._groups.get(key)
        if key is None or group is None:
            self.tests += 1
            attempts = tries(case, suite.dialect)
            self._count(attempts)
            self._give(self._test(case, self._apart_of(case)), case, attempts)
        elif group.meaning is Meaning.APART:
            self.tests += 1
            attempts = tries(case, suite.dialect)
            self._count(attempts)
            if not group.known:
                attempts = [one._replace(known=False) for one in attempts]
            self._give(self._apart_test(case, group), case, attempts)
        else:
            self._element(case, group, self._progress.setdefault(key, Progress()))

    def _element(self, case: Case, group: Group, progress: Progress) -> None:
        """One of several elements that are attempts of one test."""
        suite, at = self._suite, progress.element
        progress.element += 1
        last = progress.element == len(group.letters)
        if not last and group.letters[at] in BAD and group.letters[at + 1] == TEARDOWN:
            progress.waiting = case
            return
        attempts = tries(case, suite.dialect)
        if progress.waiting is not None and group.letters[at] == TEARDOWN:
            before, teardown = tries(progress.waiting, suite.dialect), attempts[-1]
            before[-1] = before[-1]._replace(text=f"{before[-1].text}\n{teardown.text}".strip())
            attempts, case, progress.waiting = before, progress.waiting, None
        elif not last and case.category == PASSED:
            if group.meaning is Meaning.LAST:
                return
            if group.meaning is Meaning.RERUNS:
                attempts[-1] = attempts[-1]._replace(outcome=Outcome.FAILED)
        if not group.known:
            attempts = [one._replace(known=False) for one in attempts]
        self._give(self._test(case, self._apart_of(case)), case, attempts, progress.number)
        progress.number += len(attempts)
        progress.bad = progress.bad or any(one.outcome.bad for one in attempts)
        progress.good = progress.good or any(one.outcome.good for one in attempts)
        if last:
            self.tests += 1
            self.reruns += progress.number - 1
            self.flaky += progress.bad and progress.good

    def _count(self, attempts: list[Try]) -> None:
        if len(attempts) > 1:
            self.reruns += len(attempts) - 1
            self.flaky += any(one.outcome.bad for one in attempts) and any(one.outcome.good for one in attempts)

    def _give(self, test: TestId, case: Case, attempts: list[Try], first: int = 0) -> None:
        emit = self._emit or nobody
        for number, one in enumerate(attempts, first):
            emit(
                Attempt(
                    test,
                    one.outcome,
                    number,
                    one.known and self._sure,
                    one.phase,
                    seconds(one.time),
                    (moment(one.stamp) if one.stamp else None) or self._started,
                    one.message,
                    one.text,
                    case.file,
                    self._session,
                )
            )

    def _test(self, case: Case, apart: str) -> TestId:
        return from_junit(case.classname, case.name, pytest=self._suite.dialect is Dialect.PYTEST, apart=apart)

    def _apart_of(self, case: Case) -> str:
        """What tells this case from its equals, were there any."""
        host = self._suite.hostname if self._suite.dialect in APART_BY_HOST else ""
        if case.name:
            return host
        order = self._order(f"{case.classname} {host}")
        return host if host and order == 1 else f"{host} #{order}".strip()

    def _order(self, name: str) -> int:
        """How many nameless things of this name there were, this one included."""
        known = name in self._nameless or len(self._nameless) < limits.REPEATED
        key = name if known else ""  # of so many names, the rest is counted together
        self._nameless[key] += 1
        return self._nameless[key]

    def _apart_test(self, case: Case, group: Group) -> TestId:
        """Told apart by suite, else by host (a browser, mostly), then by order."""
        suite, apart = self._suite, self._apart_of(case)
        if len({one.name for one in group.suites}) > 1:
            apart = suite.name
        elif len({one.hostname for one in group.suites}) > 1:
            apart = suite.hostname
        test = self._test(case, apart)
        self._apart[test] = order = self._apart.get(test, 0) + 1
        return test if order == 1 else self._test(case, f"{apart} #{order}".strip())

    def _suite_failure(self, case: Case) -> None:
        """A suite that failed outside its cases: set-up of a class, a plan that did not hold."""
        order = self._order(f"{case.classname} (suite)")
        test = TestId(case.classname, "", "suite" if order == 1 else f"suite #{order}")
        for number, one in enumerate(tries(case._replace(category="e"), self._suite.dialect)):
            phase = one.phase or Phase.SETUP
            (self._emit or nobody)(
                Attempt(test, one.outcome, number, True, phase, None, self._started, one.message, one.text)  # noqa: FBT003 - in the order of the fields
            )
