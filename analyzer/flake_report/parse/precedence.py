"""Where several sources tell of one run: the best one gives the attempts, a lesser one adds what it lacks.

Attempts file over report over log, for each (session, test), among the sources that know the attempts: a report in
which reruns left no trace (pytest-rerunfailures) yields to a log that names each of them. A report does not say which
session wrote it: its file's name in a session's command tells, or a job that had only one. Where neither does and a
test ran in several sessions, the report is kept, marked as unknown, and the log's lines for it are left out: nothing
is counted twice, nothing guessed. Where an attempts file tells a test's workers apart, which neither report nor log
does, it alone is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from flake_report.model.joblog import JobLog, Session
from flake_report.model.results import Attempt, ResultSource, TestId

from .sessionkey import numbered

RANK = {source: rank for rank, source in enumerate(ResultSource)}
"""The enumeration's own order is best first."""

Group = dict[ResultSource, list[Attempt]]


def session_of_report(name: str, sessions: Sequence[Session]) -> Session | None:
    """The session that wrote the report of this name; None where it cannot be known."""
    base = name.rsplit("/", 1)[-1]
    naming = [session for session in sessions if base and base in session.command]
    if len(naming) == 1:
        return naming[0]
    return sessions[0] if len(sessions) == 1 and not naming else None


def in_session(session: Session, keep: Callable[[Attempt], None]) -> Callable[[Attempt], None]:
    """`keep`, for a report that this session wrote: its attempts get the session's key where they have none."""
    return lambda attempt: keep(attempt if attempt.session_key else replace(attempt, session_key=session.key))


def best_source(attempts: Iterable[Attempt], log: JobLog) -> list[Attempt]:
    """The attempts to keep, of all that a job's files and its log tell, in the order in which they were read."""
    groups: dict[tuple[str, TestId], Group] = defaultdict(lambda: defaultdict(list))
    homeless: dict[TestId, list[Attempt]] = defaultdict(list)
    for attempt in _told_once([*_numbered(attempts), *log.attempts]):
        if attempt.source is ResultSource.REPORT and not attempt.session_key:
            homeless[attempt.test].append(attempt)
        else:
            groups[attempt.session_key, attempt.test][attempt.source].append(attempt)
    homes: dict[TestId, list[str]] = defaultdict(list)
    for key, test in groups:
        homes[test].append(key)
    for test, reported in homeless.items():
        keys = homes[test]
        if len(keys) == 1:
            groups[keys[0], test][ResultSource.REPORT] += [replace(one, session_key=keys[0]) for one in reported]
        elif keys:
            _settle_ambiguous(groups, keys, test, reported)
        else:
            groups["", test][ResultSource.REPORT] += reported
    return [attempt for group in groups.values() for attempt in _merge(group)]


def _numbered(attempts: Iterable[Attempt]) -> Iterator[Attempt]:
    """Attempts files of equal commands told apart as the log tells its sessions apart: by their order.

    A recorder's session id begins with its start, so that sorting ids sorts sessions by time.
    """
    told = list(attempts)
    recorded = sorted({(one.session, one.session_key) for one in told if one.source is ResultSource.ATTEMPTS})
    keys = dict(zip(recorded, numbered(key for _, key in recorded), strict=True))
    for attempt in told:
        key = keys.get((attempt.session, attempt.session_key), attempt.session_key)
        yield attempt if key == attempt.session_key else replace(attempt, session_key=key)


def _told_once(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Without what reports and log tell, as one test, of a test whose workers an attempts file tells apart."""
    split = {
        (key, replace(attempt.test, apart=""))
        for attempt in attempts
        if attempt.source is ResultSource.ATTEMPTS and attempt.test.apart
        for key in (attempt.session_key, "")  # a report may not know its session
    }
    return [
        attempt
        for attempt in attempts
        if attempt.source is ResultSource.ATTEMPTS or (attempt.session_key, attempt.test) not in split
    ]


def _settle_ambiguous(
    groups: dict[tuple[str, TestId], Group], keys: Sequence[str], test: TestId, reported: Sequence[Attempt]
) -> None:
    """A report of a test that ran in several sessions: kept as unknown in place of the log's lines.

    Where attempts files tell of the test, they know all that the report could say of it.
    """
    recorded = False
    for key in keys:
        groups[key, test].pop(ResultSource.LOG, None)
        recorded = recorded or ResultSource.ATTEMPTS in groups[key, test]
    if not recorded:
        groups["", test][ResultSource.REPORT] += [replace(one, known=False) for one in reported]


def _merge(group: Group) -> list[Attempt]:
    """The best source's attempts, with what a lesser source tells of them and they lack."""
    told = [group[source] for source in sorted(group, key=RANK.__getitem__) if group[source]]
    told.sort(key=lambda attempts: not all(attempt.known for attempt in attempts))
    if not told:
        return []
    best, *lesser = told
    for attempts in lesser:
        best = _enriched(best, attempts)
    return best


def _enriched(best: list[Attempt], lesser: list[Attempt]) -> list[Attempt]:
    """Attempts paired from the last one back: the final attempt is in every source, earlier ones may be lost."""
    by_place = dict(zip(range(len(best) - 1, -1, -1), reversed(lesser), strict=False))
    return [_filled(attempt, by_place.get(place)) for place, attempt in enumerate(best)]


def _filled(attempt: Attempt, other: Attempt | None) -> Attempt:
    if other is None:
        return attempt
    same = attempt.outcome.bad and other.outcome.bad
    return replace(
        attempt,
        message=attempt.message or (other.message if same else ""),
        text=attempt.text or (other.text if same else ""),
        position=attempt.position if attempt.position is not None else other.position,
        worker=attempt.worker or other.worker,
        seconds=attempt.seconds if attempt.seconds is not None else other.seconds,
        file=attempt.file or other.file,
    )
