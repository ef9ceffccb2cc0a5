"""Runs and their verdicts, straight from job records: what the store's SQL must equal, row for row.

The definitions stand here in their plainest form; the store counts the same over millions of attempts. A run is one
variant in one build, over in-session reruns and job retries: all that was tried of a test at one commit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from flake_report.model.evidence import Build, Job
from flake_report.model.failure import Blame
from flake_report.model.query import Glob, Query, contains, of_test
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.record import ClassifiedAttempt, JobRecord
from flake_report.model.results import Outcome

from .places import BuildKey, key, places

_ENVIRONMENT = frozenset(blame.value for blame in Blame if blame.environment)


class Fate(StrEnum):
    """What one attempt says of its test: only FAILED and PASSED are the test's own doing."""

    SKIPPED = "skipped"
    VICTIM = "victim"
    LOST = "lost"
    FAILED = "failed"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt in its job; `ordinal` is its place in the job's record."""

    job: Job
    classified: ClassifiedAttempt
    ordinal: int

    @property
    def order(self) -> tuple[object, ...]:
        """Sorts the attempts of one run: by job retry, then as the job's record has them."""
        job, attempt = self.job, self.classified.attempt
        started = (1,) if job.started_at is None else (0, job.started_at)
        return job.attempt, started, job.id, len(attempt.session), attempt.session, attempt.number, self.ordinal

    @property
    def struck(self) -> bool:
        """Whether the environment failed this attempt, by what its own message says."""
        return self.classified.attempt.outcome.bad and self.classified.blame in _ENVIRONMENT

    @property
    def wordless(self) -> bool:
        """Whether it failed and nothing is left of why: a report keeps no message of a failure that was run again."""
        attempt = self.classified.attempt
        return attempt.outcome.bad and not attempt.message and not self.classified.signature


def fates(attempts: Sequence[Tried]) -> list[Fate]:
    """What each attempt of one run says of the test; `attempts` in order.

    A wordless failure before a victim in the same job is a victim too: the same polluter was there all along.
    """
    last_struck = {each.job.id: nth for nth, each in enumerate(attempts) if each.struck}
    return [_fate(each, before_victim=nth < last_struck.get(each.job.id, -1)) for nth, each in enumerate(attempts)]


def verdict(attempts: Sequence[Fate]) -> RunVerdict:
    """The verdict on one run: of own attempts first, then of what kept the test from having any."""
    seen = set(attempts)
    if Fate.FAILED in seen:
        return RunVerdict.FLAKY if Fate.PASSED in seen else RunVerdict.FAILED
    for fate in (Fate.PASSED, Fate.VICTIM, Fate.LOST):
        if fate in seen:
            return RunVerdict(fate.value)
    return RunVerdict.SKIPPED


def histories(records: Sequence[JobRecord], query: Query | None = None) -> tuple[History, ...]:
    """The histories of `fleet`, alone."""
    return fleet(records, query).histories


def fleet(records: Sequence[JobRecord], query: Query | None = None) -> Fleet:
    """A history a variant, with builds and pools; where a test is asked for, with the pools in which it ran.

    `records` come in the order in which they were committed. Of a job that comes several times the last record counts,
    and of a build the last word on it.
    """
    asked = query or Query()
    builds, order = _placed(records, asked)
    jobs = {record.job.id: record for record in records}
    tried: dict[Variant, dict[BuildKey, list[Tried]]] = defaultdict(lambda: defaultdict(list))
    pools: dict[tuple[str, str], set[int]] = defaultdict(set)
    for record in jobs.values():
        if key(record.build) in order and _asked_job(record.job, asked):
            pools[record.job.step, record.job.queue].add(order[key(record.build)])
            for variant, each in _asked_attempts(record, asked):
                tried[variant][key(record.build)].append(each)
    ran = {(variant.step, variant.queue) for variant in tried}
    return Fleet(
        builds=tuple(builds[each] for each in sorted(order, key=order.__getitem__)),
        pools=tuple(Pool(*name, tuple(sorted(pools[name]))) for name in sorted(pools if asked.test is None else ran)),
        histories=tuple(_history(variant, tried[variant], builds, order) for variant in sorted(tried)),
    )


def asked_jobs(records: Sequence[JobRecord], query: Query) -> list[tuple[int, JobRecord]]:
    """The jobs that a query selects, whatever their tests, each with its build's place; in order of places and ids."""
    _, order = _placed(records, query)
    newest = {record.job.id: record for record in records}.values()
    asked = [record for record in newest if key(record.build) in order and _asked_job(record.job, query)]
    return sorted(((order[key(record.build)], record) for record in asked), key=lambda each: (each[0], each[1].job.id))


def _placed(records: Sequence[JobRecord], query: Query) -> tuple[dict[BuildKey, Build], dict[BuildKey, int]]:
    """Each build as it was told last, and the places of those that the query selects."""
    builds = {key(record.build): record.build for record in records}
    return builds, places(_asked_builds(list(builds.values()), query))


def _fate(tried: Tried, *, before_victim: bool) -> Fate:
    outcome = tried.classified.attempt.outcome
    if outcome is Outcome.SKIPPED:
        return Fate.SKIPPED
    if tried.struck or (tried.wordless and before_victim):
        return Fate.VICTIM
    if tried.job.died:
        return Fate.LOST
    return Fate.FAILED if outcome.bad else Fate.PASSED


def _asked_builds(builds: list[Build], query: Query) -> list[Build]:
    branch = Glob(query.branch) if query.branch else Glob("*")
    builds = [build for build in builds if branch.matches(build.branch)]
    if isinstance(query.since, timedelta):
        since = max(build.created_at for build in builds) - query.since if builds else None
    else:
        since = query.since
    return [
        build
        for build in builds
        if (since is None or since <= build.created_at) and (query.until is None or build.created_at < query.until)
    ]


def _asked_job(job: Job, query: Query) -> bool:
    return contains(query.step or "*").matches(job.step) and contains(query.queue or "*").matches(job.queue)


def _asked_attempts(record: JobRecord, query: Query) -> Iterator[tuple[Variant, Tried]]:
    job = record.job
    wanted = of_test(query.test or "*")
    for ordinal, each in enumerate(record.attempts):
        test = each.attempt.test
        # Nothing says that nameless cases of two builds are one test: they have no history.
        if test.name and wanted.matches(f"{test.classname}::{test.name}"):
            yield Variant(test, job.step, job.queue, each.attempt.session_key), Tried(job, each, ordinal)


@dataclass(slots=True)
class _Streaks:
    """Plain runs since the last told run, by week, and the streaks before it."""

    done: list[Streak] = field(default_factory=list)
    orders: dict[str, list[int]] = field(default_factory=dict)

    def add(self, place: int, week: str) -> None:
        self.orders.setdefault(week, []).append(place)

    def close(self) -> None:
        self.done += (Streak(orders[0], orders[-1], len(orders)) for orders in self.orders.values())
        self.orders = {}


def _history(
    variant: Variant, runs: dict[BuildKey, list[Tried]], builds: dict[BuildKey, Build], order: dict[BuildKey, int]
) -> History:
    told: list[Run] = []
    passes, skips = _Streaks(), _Streaks()
    judged = {build: (tried, set(fates(tried))) for build, tried in _in_order(runs).items()}
    plain = all(_plain(seen) for _, seen in judged.values())
    for place, build in sorted((order[each], each) for each in runs):
        attempts, seen = judged[build]
        week = "" if plain else builds[build].week
        if seen == {Fate.SKIPPED}:
            skips.add(place, week)
        elif _plain(seen):
            passes.add(place, week)
        else:
            passes.close()
            skips.close()
            told.append(_run(variant, builds[build], place, attempts))
    passes.close()
    skips.close()
    files = [each.classified.attempt.file for tried, _ in judged.values() for each in tried]
    return History(variant, tuple(told), tuple(passes.done), tuple(skips.done), max(files))


def _in_order(runs: dict[BuildKey, list[Tried]]) -> dict[BuildKey, list[Tried]]:
    return {build: sorted(tried, key=lambda each: each.order) for build, tried in runs.items()}


def _plain(seen: set[Fate]) -> bool:
    return seen <= {Fate.SKIPPED, Fate.PASSED}


def _run(variant: Variant, build: Build, place: int, attempts: Sequence[Tried]) -> Run:
    judged = list(zip(fates(attempts), attempts, strict=True))
    own = [fate for fate, _ in judged if fate in {Fate.FAILED, Fate.PASSED}]
    first_failed = own[:1] == [Fate.FAILED]
    cause = Fate.FAILED if Fate.FAILED in own else Fate.VICTIM
    failures = [each for fate, each in judged if fate is cause]
    retries = [each.job.retry_type for each in attempts if each.job.attempt > 0]
    return Run(
        variant=variant,
        build=build.key,
        order=place,
        created_at=build.created_at,
        verdict=verdict([fate for fate, _ in judged]),
        first_failed=first_failed,
        retried=first_failed and len(own) > 1,
        recovered=first_failed and Fate.PASSED in own,
        victim=any(fate is Fate.VICTIM for fate, _ in judged),
        fingerprint=next((f.classified.attempt.fingerprint for f in failures if f.classified.attempt.fingerprint), ""),
        signature=next((f.classified.signature for f in failures if f.classified.signature), ""),
        agent=(failures or attempts)[0].job.agent,
        job=(failures or attempts)[0].job.id,
        retry_type=next((retry for retry in retries if retry), None),
    )
