"""A simulated history as job records: what reading its logs and reports would have given."""

from __future__ import annotations

from collections.abc import Iterator

from flake_report.model.evidence import Job, JobState, LogMode
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome

from .fleets import RETRIES, SIGNATURE, fingerprint, job_name, message, step_name, variant
from .world import Cause, Tried, World


def records(world: World) -> Iterator[JobRecord]:
    """Every job that left results, in order of builds; a lost job's retry follows it."""
    for build in world.builds:
        place = build.number or 0
        for at, step in enumerate(world.steps):
            if step.jobs.absent[place]:
                continue
            for job in range(2 if step.jobs.retry[place] else 1):
                attempts = tuple(_attempts(world, at, place, job))
                made = _job(world, at, place, job)
                versions = Versions("p", "s", "f")
                yield JobRecord(build, made, attempts, (), (), (), ("report",), (), LogMode.ALL, versions)


def _attempts(world: World, at: int, build: int, job: int) -> Iterator[ClassifiedAttempt]:
    step = world.steps[at]
    for test in range(world.plan.tests):
        row = at * world.plan.tests + test
        tried = step.attempts(test, build, reruns=bool(world.nature.reruns[row]))
        for number, each in enumerate(each for each in tried if each.job == job):
            yield _attempt(world, (at, test, build), each, number)


def _attempt(world: World, place: tuple[int, int, int], tried: Tried, number: int) -> ClassifiedAttempt:
    at, test, build = place
    row = at * world.plan.tests + test
    named = variant(world, at, test).test
    if tried.cause <= Cause.SKIP:
        return ClassifiedAttempt(
            Attempt(named, Outcome.PASSED if tried.cause is Cause.PASS else Outcome.SKIPPED, number)
        )
    said = message(world, row, build, tried) or "cut short …"
    print_ = fingerprint(world, row, build, tried)
    known = tried.cause is Cause.VICTIM
    return ClassifiedAttempt(
        Attempt(named, Outcome.FAILED, number, message=said, fingerprint=print_),
        SIGNATURE if known else "",
        "agent" if known else "",
    )


def _job(world: World, at: int, build: int, job: int) -> Job:
    jobs, step = world.steps[at].jobs, step_name(at)
    died = bool(jobs.died[build]) and job == 0
    return Job(
        id=job_name(build, step, job),
        step=step,
        label=step,
        queue=jobs.policy.name,
        agent=jobs.where(build, job),
        host="",
        state=JobState.FAILED,
        exit_status=-1 if died else 1,
        signal_reason="",
        soft_failed=False,
        attempt=job,
        retry_type=RETRIES[jobs.retry[build]] if job else None,
        retry_of=job_name(build, step, 0) if job else None,
        shard="",
        started_at=None,
        finished_at=None,
        command="pytest",
    )
