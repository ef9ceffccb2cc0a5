"""Where several sources tell of one run: the best one gives the attempts, a lesser one adds text, never attempts.

Attempts file over report over log, for each (session, test). A report does not know its session: its file's name in
a session's command tells, or a job that had only one. Where neither does and a test ran in several sessions, the
report is kept, marked as unknown, and the log's lines for it are left out: nothing is counted twice, nothing guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from flake_report.model.joblog import JobLog, Session
from flake_report.model.results import Attempt, ResultSource, TestId

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


def best_source(attempts: Iterable[Attempt], log: JobLog) -> list[Attempt]:
    """The attempts to keep, of all that a job's files and its log tell, in the order in which they were read."""
    groups: dict[tuple[str, TestId], Group] = defaultdict(lambda: defaultdict(list))
    homeless: dict[TestId, list[Attempt]] = defaultdict(list)
    for attempt in [*attempts, *log.attempts]:
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
    """The best source's attempts, with the text that a lesser source has and they lack."""
    sources = sorted((source for source in group if group[source]), key=RANK.__getitem__)
    if not sources:
        return []
    best = group[sources[0]]
    for lesser in sources[1:]:
        best = _with_text(best, group[lesser])
    return best


def _with_text(best: list[Attempt], lesser: list[Attempt]) -> list[Attempt]:
    """Attempts paired from the last one back: the final attempt is in every source, earlier ones may be lost."""
    by_place = dict(zip(range(len(best) - 1, -1, -1), reversed(lesser), strict=False))
    return [_fill(attempt, by_place.get(place)) for place, attempt in enumerate(best)]


def _fill(attempt: Attempt, other: Attempt | None) -> Attempt:
    if other is None or not attempt.outcome.bad or not other.outcome.bad:
        return attempt
    return replace(
        attempt,
        message=attempt.message or other.message,
        text=attempt.text or other.text,
        position=attempt.position if attempt.position is not None else other.position,
        worker=attempt.worker or other.worker,
    )
