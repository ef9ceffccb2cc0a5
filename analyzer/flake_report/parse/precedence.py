"""Where several sources tell of one run: the best one gives the attempts, a lesser one adds what it lacks.

Attempts file over report over log, for each (session, test); a report in which reruns left no trace
(pytest-rerunfailures) yields to a log that names each of them. What is one session is settled first, in `sessions`.

A report does not say which session wrote it: its name in a session's command tells, or a job that had only one, or
the one session that ran its test. Where none does, its attempts are kept, marked as unknown, in place of the log's
lines that may be the same: nothing is counted twice, nothing guessed, and no failure is lost. One test in two such
reports is two runs, apart by the reports' names (less what is new in every build): two sessions under two settings
are common, and to take them for one run would make a flaky test of a sound one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import attrgetter, is_not
from typing import TypeAlias

from flake_report.model.joblog import JobLog
from flake_report.model.results import Attempt, Outcome, ResultSource, TestId

from .records import keyed
from .reportnames import lasting_names
from .sessions import Home, Homes, ReportFile

ATTEMPTS, REPORT, LOG = _BEST_FIRST = tuple(ResultSource)
_TEST = attrgetter("test")
_SESSION = attrgetter("session")

Group: TypeAlias = dict[ResultSource, list[Attempt]]
Reports: TypeAlias = dict[tuple[str, str], list[Attempt]]
"""By file and the session within it, in order."""


@dataclass(frozen=True, slots=True)
class _Telling:
    """What one report says of one test; `name` is the report's in all builds, `home` the session that wrote it."""

    file: str
    name: str
    attempts: list[Attempt]
    home: Home | None

    @property
    def bad(self) -> bool:
        return self.attempts[-1].outcome.bad

    @property
    def guessed(self) -> bool:
        """Whether its session is only the likeliest one."""
        return self.home is None or not self.home.named

    @property
    def outcomes(self) -> list[Outcome]:
        return [one.outcome for one in self.attempts]


def best_source(files: Iterable[ReportFile], log: JobLog) -> list[Attempt]:
    """The attempts to keep, of all that a job's files and its log tell."""
    told = list(files)
    homes = Homes(told, log)
    groups: dict[TestId, dict[str, Group]] = defaultdict(dict)
    for key, attempt in homes.attempts():
        by_key = groups[attempt.test]
        group = by_key[key] if key in by_key else by_key.setdefault(key, defaultdict(list))
        group[attempt.source].append(attempt if attempt.session_key == key else attempt._replace(session_key=key))
    reports = _reports(told)
    tests = {report: set(map(_TEST, attempts)) for report, attempts in reports.items()}
    if homes.by_worker or not _disjoint([groups.keys(), *tests.values()]):
        further = _compared(groups, reports, homes)
        return [*_merged(groups), *further]
    # As in most jobs, no test is told of twice: nothing needs to be compared, test by test.
    kept = list(_merged(groups))
    for report, attempts in reports.items():
        home = homes.of_report(*report)
        in_order = attempts if len(tests[report]) == len(attempts) else _by_test(attempts)
        kept += _keyed(in_order, "" if home is None else home.ran.key)
    return kept


def _reports(files: Iterable[ReportFile]) -> Reports:
    found: Reports = defaultdict(list)
    for file in files:
        if file.source is REPORT:
            for session, attempts in groupby(file.attempts, _SESSION):
                found[file.name, session] += attempts
    return found


def _disjoint(groups: Sequence[Collection[TestId]]) -> bool:
    filled = [group for group in groups if group]
    return len(filled) < 2 or len(set().union(*filled)) == sum(map(len, filled))


def _by_test(attempts: list[Attempt]) -> list[Attempt]:
    """Those of one test together, in the order in which the tests begin."""
    tests = list(map(_TEST, attempts))
    if sum(map(is_not, tests, tests[1:])) < len(set(tests)):
        return attempts  # they stand together already
    by_test: dict[TestId, list[Attempt]] = {}
    for attempt in attempts:
        by_test.setdefault(attempt.test, []).append(attempt)
    return [attempt for its in by_test.values() for attempt in its]


def _keyed(attempts: Iterable[Attempt], key: str) -> list[Attempt]:
    return [one if one.session_key == key else keyed(one, key) for one in attempts]


def _compared(groups: dict[TestId, dict[str, Group]], reports: Reports, homes: Homes) -> list[Attempt]:
    """Adds reports to what else is told of their tests; answers their attempts of tests that only reports tell of."""
    further: dict[TestId, dict[str, Group]] = {}
    for test, tellings in _tellings(reports, homes).items():
        fresh = [one for one in tellings if not homes.tells_workers_apart(one.home, test)]
        if fresh:
            by_key = groups[test] if test in groups else further.setdefault(test, {})
            _add_reports(by_key, fresh, homes)
    return list(_merged(further))


def _tellings(reports: Reports, homes: Homes) -> dict[TestId, list[_Telling]]:
    """What the reports say, by test. A test without a name is another one in each file."""
    tests: dict[tuple[str, str], dict[TestId, list[Attempt]]] = {}
    nameless: dict[TestId, set[str]] = defaultdict(set)
    for report, attempts in reports.items():
        by_test = tests[report] = {}
        for attempt in attempts:
            by_test.setdefault(attempt.test, []).append(attempt)
            if not attempt.test.name:
                nameless[attempt.test].add(report[0])
    names = lasting_names(reports)
    told: dict[TestId, list[_Telling]] = defaultdict(list)
    for (file_name, session), by_test in tests.items():
        name, home = names[file_name, session], homes.of_report(file_name, session)
        for test, attempts in by_test.items():
            if not test.name and len(nameless[test]) > 1:
                own = test._replace(apart=f"{name} {test.apart}".strip())
                told[own].append(_Telling(file_name, name, [one._replace(test=own) for one in attempts], home))
            else:
                told[test].append(_Telling(file_name, name, attempts, home))
    return told


def _add_reports(groups: dict[str, Group], tellings: Sequence[_Telling], homes: Homes) -> None:
    """What the reports say of one test, to what attempts files and the log say of it."""
    homeless = []
    by_key: dict[str, list[_Telling]] = defaultdict(list)
    for one in tellings:
        key = None if one.home is None else homes.key_of(one.home, one.attempts[0].test)
        if key is None or (one.guessed and _contradicts(one, groups.get(key, {}))):
            homeless.append(one)
        else:
            by_key[key].append(one)
    for key, claims in by_key.items():
        if len(claims) == 1 or groups.get(key, {}).get(ATTEMPTS) or _copies(claims):
            _attach(groups, key, claims[0].attempts)
        else:
            homeless += claims
    if not homeless:
        return
    free = [key for key, group in groups.items() if any(group.values()) and not group.get(REPORT)]
    if len(homeless) == len(free) == 1 and not _contradicts(homeless[0], groups[free[0]]):
        _attach(groups, free[0], homeless[0].attempts)
    else:
        _settle(groups, free, homeless)


def _copies(claims: Sequence[_Telling]) -> bool:
    """Whether these are one report, kept at several places: all named by one session, and all say the same."""
    first = claims[0]
    return len({one.file for one in claims}) == len(claims) and all(
        not one.guessed and one.outcomes == first.outcomes for one in claims
    )


def _attach(groups: dict[str, Group], key: str, attempts: Iterable[Attempt]) -> None:
    group = groups.setdefault(key, defaultdict(list))
    group[REPORT] += _keyed(attempts, key)


def _contradicts(telling: _Telling, group: Group) -> bool:
    """Whether a recorder saw the test end otherwise: then the report is of another session."""
    recorded = group.get(ATTEMPTS)
    return recorded[-1].outcome.bad is not telling.bad if recorded else False


def _settle(groups: dict[str, Group], keys: Sequence[str], homeless: Sequence[_Telling]) -> None:
    """Reports of a test, each of which may be of several sessions, or of none that another source tells of.

    Where an attempts file tells of one of those sessions, a report adds nothing, unless no session ended as it says:
    the recorded session keeps its own attempts, the others what the log says. Else the reports stand in place of the
    log's lines; a failure in the log stays where no report tells of one.
    """
    alone = len(homeless) == 1
    known = alone and not any(any(group.values()) for group in groups.values())
    if any(groups[key].get(ATTEMPTS) for key in keys):
        ends = {_ended_bad(groups[key]) for key in keys}
        homeless = [one for one in homeless if one.bad not in ends]
    else:
        failed = any(one.bad for one in homeless)
        for key in keys:
            if failed or not _ended_bad(groups[key]):
                groups[key].pop(LOG, None)
    alone = alone and not any(groups.get("", {}).values())
    for one in homeless:
        if known:
            _attach(groups, "", one.attempts)
        elif alone:
            _attach(groups, "", [attempt._replace(known=False) for attempt in one.attempts])
        else:
            apart = [attempt._replace(known=False, session=one.file) for attempt in one.attempts]
            _attach(groups, one.name, apart)


def _ended_bad(group: Group) -> bool:
    return next(attempts[-1].outcome.bad for source in _BEST_FIRST if (attempts := group.get(source)))


def _merged(groups: Mapping[TestId, Mapping[str, Group]]) -> Iterator[Attempt]:
    for by_key in groups.values():
        for group in by_key.values():
            yield from _merge(group)


def _merge(group: Group) -> list[Attempt]:
    """The best source's attempts, with what a lesser source tells of them and they lack."""
    told = [attempts for source in _BEST_FIRST if (attempts := group.get(source))]
    if len(told) > 1 and not group.get(ATTEMPTS) and not _known(told[0]) and _known(told[1]):
        told.reverse()
    return reduce(_enriched, told) if told else []


def _known(attempts: Iterable[Attempt]) -> bool:
    return all(attempt.known for attempt in attempts)


def _enriched(best: list[Attempt], lesser: list[Attempt]) -> list[Attempt]:
    """Attempts paired from the last one back: the final attempt is in every source, earlier ones may be lost."""
    by_place = dict(zip(range(len(best) - 1, -1, -1), reversed(lesser), strict=False))
    return [_filled(attempt, by_place.get(place)) for place, attempt in enumerate(best)]


def _filled(attempt: Attempt, other: Attempt | None) -> Attempt:
    if other is None:
        return attempt
    same = attempt.outcome.bad and other.outcome.bad
    return attempt._replace(
        message=attempt.message or (other.message if same else ""),
        text=attempt.text or (other.text if same else ""),
        position=attempt.position if attempt.position is not None else other.position,
        worker=attempt.worker or other.worker,
        seconds=attempt.seconds if attempt.seconds is not None else other.seconds,
        file=attempt.file or other.file,
    )
