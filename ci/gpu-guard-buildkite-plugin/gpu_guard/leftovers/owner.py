"""Whose a process is: which Buildkite job started it, and whether that job is over."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from gpu_guard.memory import process

JOB = "BUILDKITE_JOB_ID"
AGENT = "BUILDKITE_AGENT_ID"
AGENT_NAME = "BUILDKITE_AGENT_NAME"
AGENT_PID = "BUILDKITE_AGENT_PID"
_PID = re.compile(r"[0-9]{1,9}")
_BOOTSTRAPS = ("bootstrap", "kubernetes-bootstrap")
"""The agent starts each job as a process of its own, `buildkite-agent bootstrap`, that lives as long as the job."""


class Job(NamedTuple):
    """A job as its processes carry it in their environment; empty texts where something is not known."""

    id: str
    agent: str
    agent_name: str
    agent_pid: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Job:
        """The job that an environment tells of."""
        return cls(*(environment.get(name, "") for name in (JOB, AGENT, AGENT_NAME, AGENT_PID)))


class Owned(NamedTuple):
    """A process of a job. `started` guards against its number being used again."""

    pid: int
    started: int
    name: str
    job: Job


def owned() -> list[Owned]:
    """Every living process that a Buildkite job started, as far as this user may look.

    A process whose environment says nothing is known by its session, see `_by_session`.
    """
    silent: list[int] = []
    found: list[Owned] = []
    for pid in process.every_pid():
        job = Job.of(process.environment_of(pid))
        if job.id and process.is_alive(pid):
            found.append(Owned(pid, process.started(pid), process.name_of(pid), job))
        elif not job.id:
            silent.append(pid)
    return sorted(found + _by_session(silent, found)) if found else []


def _by_session(silent: list[int], known: list[Owned]) -> list[Owned]:
    """Processes that emptied their environment, by the session that they share with others of one job.

    The session must be that job's own: its first process carries the job or is gone, and nothing in it that is older
    than the job counts. An agent in a terminal shares a session with whatever else was started there; session 0 began
    outside of this container, and is as many as came from there.
    """
    sessions: dict[int, list[Owned]] = {}
    for one in known:
        sessions.setdefault(process.session_of(one.pid), []).append(one)
    found = []
    for pid in silent:
        session = process.session_of(pid)
        others = sessions.get(session, [])
        if len({one.job.id for one in others}) != 1 or not process.is_mine(pid) or not process.is_alive(pid):
            continue
        led = session > 0 and (process.started(session) == 0 or any(one.pid == session for one in others))
        since = process.started(pid)
        # The clock ticks a hundred times a second, pids ascend: within a tick the lower one is the older.
        if led and (since, pid) > min((one.started, one.pid) for one in others):
            found.append(Owned(pid, since, process.name_of(pid), others[0].job))
    return found


def is_finished(job: Job, ours: Job, running: list[Owned]) -> bool:
    """Whether a job of this very agent is over, for certain.

    An agent runs one job at a time: another job that carries its id has ended. After a restart the id is a new one;
    then the name must be ours and the agent's process of that time be gone. A job whose bootstrap lives is not over.
    """
    if not job.id or not ours.id or job.id == ours.id:
        return False
    if any(one.job.id == job.id and _is_bootstrap(one.pid) for one in running):
        return False
    if job.agent and job.agent == ours.agent:
        return True
    return bool(job.agent_name) and job.agent_name == ours.agent_name and _agent_is_gone(job, running)


def own_tree(ours: Job) -> set[int]:
    """This process, the ones above it, and what else descends from the job's first: the job as it runs now."""
    above = [os.getpid(), *process.ancestors(os.getpid())]
    of_job = [pid for pid in above if Job.of(process.environment_of(pid)).id == ours.id]
    if not of_job:
        return set(above)
    children: dict[int, list[int]] = {}
    for pid in process.every_pid():
        children.setdefault(process.parent_of(pid), []).append(pid)
    below, open_ones = set(above), [of_job[-1]]
    while open_ones:
        for child in children.get(open_ones.pop(), []):
            below.add(child)
            open_ones.append(child)
    return below


def _agent_is_gone(job: Job, running: list[Owned]) -> bool:
    here = process.namespace_of(os.getpid())
    mine = [one for one in running if one.job == job]
    if not _PID.fullmatch(job.agent_pid) or not here or any(process.namespace_of(one.pid) != here for one in mine):
        return False  # the number counts elsewhere, or is not known
    agent = process.started(int(job.agent_pid))
    return agent == 0 or (bool(mine) and all(agent > one.started for one in mine))


def _is_bootstrap(pid: int) -> bool:
    words = process.arguments_of(pid)
    return len(words) > 1 and "buildkite-agent" in words[0] and words[1] in _BOOTSTRAPS
