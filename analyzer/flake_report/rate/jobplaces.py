"""Where jobs ran, straight from job records: what the store's SQL must equal, row for row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

from flake_report.model.evidence import Job, JobState
from flake_report.model.machines import Elsewhere, JobPlace
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


def job_places(records: Sequence[JobRecord], query: Query) -> tuple[JobPlace, ...]:
    """The selected jobs that have results or died, in order of steps and queues, and then of builds and ids."""
    places = (
        JobPlace(
            order=order,
            job=record.job.id,
            step=record.job.step,
            queue=record.job.queue,
            machine=machine_of(record.job),
            command=record.job.command,
            retry=record.job.attempt > 0,
            lost=lost(record.job),
        )
        for order, record in asked_jobs(records, query)
        if record.sources or record.job.died
    )
    return tuple(sorted(places, key=lambda place: (place.step, place.queue)))


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
