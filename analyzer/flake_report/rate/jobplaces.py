"""Where jobs ran, straight from job records: what the store's SQL must equal, row for row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from flake_report.model.evidence import Job, JobState
from flake_report.model.machines import Coded, Elsewhere, JobPlaces
from flake_report.model.query import Query
from flake_report.model.record import JobRecord
from flake_report.model.results import Outcome, TestId

from .runs import asked_jobs

_Ran: TypeAlias = tuple[TestId, str, str, str]
"""A test in a session and step, at a commit."""


def machine_of(job: Job) -> str:
    """The host, or the agent's name where no host is known."""
    return job.host or job.agent


def lost(job: Job) -> bool:
    """Whether its machine or agent ended the job: not people, and no limit of time."""
    ended_on_purpose = job.state in {JobState.CANCELED, JobState.TIMED_OUT, JobState.EXPIRED}
    return job.died and not ended_on_purpose and job.signal_reason != "cancel"


def job_places(
    records: Sequence[JobRecord], query: Query, own: Collection[str] = (), victims: Collection[str] = ()
) -> JobPlaces:
    """The selected jobs that have results or died, in order of steps and queues, and then of builds and ids.

    `own` and `victims` are the ids of jobs with trouble of these kinds.
    """
    asked = asked_jobs(records, query)
    places = [(order, record.job) for order, record in asked if record.sources or record.job.died]
    places.sort(key=lambda place: (place[1].step, place[1].queue))
    jobs = [job for _, job in places]
    return JobPlaces(
        order=np.array([order for order, _ in places], dtype=np.int32),
        step=coded(job.step for job in jobs),
        queue=coded(job.queue for job in jobs),
        machine=coded(map(machine_of, jobs)),
        command=coded(job.command for job in jobs),
        retry=np.array([job.attempt > 0 for job in jobs], dtype=bool),
        own=np.array([job.id in own for job in jobs], dtype=bool),
        victim=np.array([job.id in victims for job in jobs], dtype=bool),
        lost=np.array([lost(job) for job in jobs], dtype=bool),
    )


def coded(texts: Iterable[str]) -> Coded:
    """The column of these texts; codes in order of first rows."""
    names: dict[str, int] = {}
    codes = np.array([names.setdefault(text, len(names)) for text in texts], dtype=np.int32)
    return Coded(codes, tuple(names))


def elsewhere(records: Sequence[JobRecord], query: Query) -> tuple[Elsewhere, ...]:
    """What failed on each machine and ran on others at the same commit, and what became of it; in order of machines."""
    seen: dict[_Ran, dict[str, set[Outcome]]] = defaultdict(lambda: defaultdict(set))
    commits = {(record.build.org, record.build.pipeline, record.build.key): record.build.commit for record in records}
    for _, record in asked_jobs(records, query):
        job, build = record.job, record.build
        commit = commits[build.org, build.pipeline, build.key]
        if job.died or not commit or not machine_of(job):
            continue
        for attempt in (each.attempt for each in record.attempts):
            if attempt.test.name and attempt.outcome is not Outcome.SKIPPED:
                ran = (attempt.test, attempt.session_key, job.step, commit)
                seen[ran][machine_of(job)].add(attempt.outcome)
    tried: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for machines in seen.values():
        for machine, outcomes in machines.items():
            others = [machines[other] for other in machines if other != machine]
            if others and any(outcome.bad for outcome in outcomes):
                tried[machine] += 1
                passed[machine] += any(outcome.good for other in others for outcome in other)
    return tuple(Elsewhere(machine, tried[machine], passed[machine]) for machine in sorted(tried))
