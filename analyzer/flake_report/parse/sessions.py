"""The sessions of a job, out of its attempts files and its log: each once, with the key that it has in every build.

A session that both tell of has the log's key where the log shows a command, else the recorder's: what the script says
(`pytest $TESTS`, `pytest v1/*.py`) stays when a file is added, and builds without a recorder have nothing else, so
that histories of both kinds join. The log's words for tests that the attempts file lacks (it died in the midst of
one) are kept under that key; for the others they only add text. Where a recorder tells a test's workers apart, which
neither report nor log does, it alone is kept.

Sessions without a shown command have no key; where several ran one test, all but the first get their order (`#2`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flake_report.model.joblog import JobLog, Session
from flake_report.model.results import Attempt, ResultSource, TestId

from .pairing import Told, pairs
from .reportnames import names, of_recorder, session_of_report
from .sessionkey import numbered

_ORDER = re.compile(r" #\d+$")


class ReportFile(NamedTuple):
    """A file that a job left, and what was read from it; `name` is its path below the job."""

    name: str
    attempts: Sequence[Attempt]

    @property
    def source(self) -> ResultSource | None:
        """What kind of file it is, which is that of all its attempts; None where it has none."""
        return self.attempts[0].source if self.attempts else None


@dataclass(slots=True, eq=False)
class _Ran:
    """One session.

    `orders` numbers it among the sessions without a key that ran a test. `by_worker` are tests as reports and logs
    name them, each of which the recorder tells apart by worker.
    """

    key: str
    attempts: list[Attempt] = field(default_factory=list)
    logged: Session | None = None
    recorded: str = ""
    orders: dict[TestId, int] = field(default_factory=dict)
    by_worker: frozenset[TestId] = frozenset()


@dataclass(frozen=True, slots=True)
class Home:
    """The session that wrote a report; `named` where its command or its id says so."""

    ran: _Ran
    named: bool


class Homes:
    """Who ran what."""

    def __init__(self, files: Sequence[ReportFile], log: JobLog) -> None:
        self._sessions = log.sessions
        recorded, logged = _recorded(files), _logged(log)
        self._all = _joined(recorded, logged)
        self._by_session = {id(ran.logged): ran for ran in self._all if ran.logged is not None}
        self.by_worker = any(ran.by_worker for ran in self._all)
        """Whether some session of the job recorded tests by worker."""
        self._number()

    def attempts(self) -> Iterator[tuple[str, Attempt]]:
        """What attempts files and the log tell, with the key of the session."""
        for ran in self._all:
            for attempt in ran.attempts:
                if not ran.by_worker or attempt.test not in ran.by_worker:
                    yield self._key(ran, attempt.test), attempt

    def tells_workers_apart(self, home: Home | None, test: TestId) -> bool:
        """Whether this session, or some session of the job where it is not known, recorded the test by worker."""
        return any(test in ran.by_worker for ran in (self._all if home is None else [home.ran]) if ran.by_worker)

    def key_of(self, home: Home, test: TestId) -> str:
        return self._key(home.ran, test)

    def of_report(self, name: str, session: str) -> Home | None:
        """The session that wrote a report of this name; `session` is what the report itself calls it."""
        for ran in self._all:
            if ran.recorded and (session == ran.recorded or of_recorder(name, ran.recorded)):
                return Home(ran, named=True)
        found = session_of_report(name, self._sessions)
        if found is None or id(found) not in self._by_session:
            return None
        return Home(self._by_session[id(found)], named=names(found.command, name))

    def _number(self) -> None:
        seen: Counter[TestId] = Counter()
        for ran in self._all:
            if ran.key or (ran.logged is not None and ran.logged.runner != "pytest"):
                continue  # other runners tell reruns in further sessions
            for test in dict.fromkeys(attempt.test for attempt in ran.attempts):
                seen[test] += 1
                ran.orders[test] = seen[test]

    @staticmethod
    def _key(ran: _Ran, test: TestId) -> str:
        order = ran.orders.get(test, 1) if ran.orders else 1
        return ran.key if order == 1 else f"#{order}"


def _recorded(files: Sequence[ReportFile]) -> list[_Ran]:
    """The attempts files' sessions in order of time, which is the order of their ids; of two copies, the longer.

    Equal commands are told apart as the log tells its sessions apart: by their order.
    """
    found: dict[tuple[str, str], list[Attempt]] = {}
    for file in files:
        own: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
        for attempt in file.attempts if file.source is ResultSource.ATTEMPTS else ():
            own[attempt.session, attempt.session_key].append(attempt)
        for identity, attempts in own.items():
            if len(attempts) > len(found.get(identity, ())):
                found[identity] = attempts
    ordered = sorted(found)
    return [
        _Ran(key, found[identity], recorded=identity[0], by_worker=_by_worker(found[identity]))
        for identity, key in zip(ordered, numbered(key for _, key in ordered), strict=True)
    ]


def _by_worker(recorded: Sequence[Attempt]) -> frozenset[TestId]:
    return frozenset(attempt.test._replace(apart="") for attempt in recorded if attempt.test.apart)


def _logged(log: JobLog) -> list[_Ran]:
    found = {(str(order), one.key): _Ran(one.key, logged=one) for order, one in enumerate(log.sessions, 1)}
    for attempt in log.attempts:
        found.setdefault((attempt.session, attempt.session_key), _Ran(attempt.session_key)).attempts.append(attempt)
    return list(found.values())


def _joined(recorded: list[_Ran], logged: list[_Ran]) -> list[_Ran]:
    """Recorded sessions first, each with its session of the log; then what the log alone tells of."""
    pytest = [one for one in logged if one.logged is None or one.logged.runner == "pytest"]
    paired = pairs([_told(one) for one in recorded], [_told(one) for one in pytest]) if recorded and pytest else {}
    for place, other in paired.items():
        one, its = recorded[place], pytest[other]
        one.key = its.key or one.key
        one.logged = its.logged
        one.attempts = [*one.attempts, *its.attempts]
    joined = {id(pytest[other]) for other in paired.values()}
    alone = [one for one in logged if id(one) not in joined]
    taken = {one.key for one in alone} | {recorded[place].key for place in paired}
    for place, one in enumerate(recorded):
        if place not in paired:
            one.key = _free(one.key, taken)
            taken.add(one.key)
    return [*recorded, *alone]


def _free(key: str, taken: set[str]) -> str:
    """This key, or the next by order where another session has it."""
    order, free = 1, key
    while key and free in taken:
        order += 1
        free = f"{_ORDER.sub('', key)} #{order}"
    return free


def _told(ran: _Ran) -> Told:
    count = None
    if ran.logged is not None and ran.logged.ended:
        one = ran.logged
        count = one.passed + one.failed + one.errors + one.skipped + one.xfailed + one.xpassed
    bad: dict[TestId, bool | None] = {one.test: one.outcome.bad for one in ran.attempts if not one.test.apart}
    return Told(ran.key, bad | dict.fromkeys(ran.by_worker), count)
