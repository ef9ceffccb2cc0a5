"""A planned job run through: its log, its reports, and the object that Buildkite's REST API would give of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .joblog import JobLog
from .junit import junit
from .plan import PlannedBuild, PlannedJob, made_up_id, share
from .pytest_run import PytestRun
from .story import Story, template


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """What a job left: the REST object, the raw log, its reports by path."""

    payload: Mapping[str, Any]
    log: bytes
    reports: Mapping[str, bytes]
    finished_at: datetime


def run_job(story: Story, build: PlannedBuild, job: PlannedJob, ready_at: datetime) -> FinishedJob:
    """Run a job that could start at `ready_at` and waited for an agent."""
    started_at = ready_at + timedelta(seconds=int(20 + 90 * share(job.id, "wait")))
    log = JobLog(started_at)
    addopts = job.step.pytest_addopts or build.setting.pytest_addopts
    log.agent(template("agent_head.txt").substitute(agent=job.agent, commit=build.commit, addopts=addopts))
    log.child(template(job.step.device).substitute())
    runs = _sessions(story, build, job, log)
    reports = {run.session.report: junit(run, job.agent) for run in runs if run.ended}
    if not job.lost:
        _ending(log, job, len(reports))
    payload = _payload(job, ready_at, started_at, log.now, [run.session.command for run in runs])
    return FinishedJob(payload, log.data(cut=37 if job.lost else 0), reports, log.now)


def _sessions(story: Story, build: PlannedBuild, job: PlannedJob, log: JobLog) -> list[PytestRun]:
    """The commands in order, to the first that fails."""
    runs = []
    names = job.step.sessions
    for place, name in enumerate(names, start=1):
        session = story.sessions[name]
        log.child(f"+++ :test_tube: Command ({place}/{len(names)}): {session.command}")
        log.child("{+2.8}")
        run = PytestRun(log, session, job, build.setting, log.now)
        run.run([test for test in story.tests if test.session == name])
        runs.append(run)
        if run.failed or not run.ended:
            break
    return runs


def _ending(log: JobLog, job: PlannedJob, reports: int) -> None:
    if job.exit_status:
        log.agent(f"{{red}}🚨 Error: The command exited with status {job.exit_status}{{off}}\n^^^ +++")
        log.agent(f"user command error: exit status {job.exit_status}")
    log.agent('~~~ Uploading artifacts\n{grey}${off} buildkite-agent artifact upload "test-results/*.xml"')
    log.agent(f'{{+0.7}}{{green}}INFO{{off}}   Found {reports} files that match "test-results/*.xml"')


def _payload(
    job: PlannedJob, created_at: datetime, started_at: datetime, finished_at: datetime, commands: list[str]
) -> dict[str, Any]:
    """The fields of a REST job that a command job has, where they are known."""
    step = job.step
    return {
        "id": job.id,
        "type": "script",
        "name": step.label,
        "step_key": step.key or None,
        "agent_query_rules": [f"queue={step.queue}"],
        "state": "failed" if job.exit_status else "passed",
        "command": " && ".join(commands),
        "soft_failed": False,
        "exit_status": job.exit_status,
        "signal_reason": None,
        "created_at": _rest(created_at),
        "started_at": _rest(started_at),
        "finished_at": _rest(finished_at),
        "retried": False,
        "retried_in_job_id": None,
        "retries_count": job.attempt,
        "retry_source": {"job_id": job.retry_of, "retry_type": "automatic"} if job.retry_of else None,
        "retry_type": "automatic" if job.retry_of else None,
        "parallel_group_index": None,
        "parallel_group_total": None,
        "agent": {
            "id": made_up_id(job.agent),
            "name": job.agent,
            "hostname": f"{job.agent}.simulated",
            "meta_data": [f"queue={step.queue}"],
        },
    }


def _rest(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"
