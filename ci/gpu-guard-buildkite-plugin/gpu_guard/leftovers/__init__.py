"""What earlier jobs left behind on this machine: named always, ended only where a finished job of this agent owns it.

of_job(environ)               processes that this job left behind, for the end of the job
stale(environ, holders)       engines and holders of GPU memory that a finished job of this agent left
clean(environ, holders, say)  end those, and the containers of finished jobs of this agent
whose(environ, holders)       sentences: which job each holder belongs to
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gpu_guard.memory import process

from . import containers
from .ending import end
from .owner import Job, Owned, is_finished, own_tree, owned

ENGINE = "VLLM::"
"""How the processes of a vLLM engine are titled: `VLLM::EngineCore`, `VLLM::Worker`."""

_CONTAINER = re.compile(r"[0-9a-f]{64}")


class Stale(NamedTuple):
    """What is left of finished jobs of this agent."""

    processes: list[Owned]
    containers: list[containers.Container]


def of_job(environ: Mapping[str, str]) -> list[Owned]:
    """Processes of this job that no longer belong to what the agent runs: they will outlive the job."""
    ours = Job.of(environ)
    if not ours.id:
        return []
    running = own_tree(ours)
    return [one for one in owned() if one.job.id == ours.id and one.pid not in running]


def stale(environ: Mapping[str, str], holders: Iterable[int]) -> Stale:
    """Leftovers of finished jobs of this agent: engines, and whoever holds GPU memory (`holders`, pids)."""
    ours, holding = Job.of(environ), set(holders)
    known = owned()
    untouched = own_tree(ours)
    mine = [
        one
        for one in known
        if one.pid not in untouched
        and (one.pid in holding or one.name.startswith(ENGINE))
        and is_finished(one.job, ours, known)
    ]
    boxes = [
        box
        for box in containers.running(environ) or ()
        if is_finished(Job(box.job, box.agent, "", ""), ours, known)
    ]  # fmt: skip
    return Stale(mine, boxes)


def clean(environ: Mapping[str, str], holders: Iterable[int], say: Callable[[str], None]) -> bool:
    """End what `stale` finds and say so; whether there was anything."""
    found = stale(environ, holders)
    for box in found.containers:
        done = "stopped" if containers.stop(box, environ) else "could not stop"
        say(f"{done} container {box.name}: job {box.job} of this agent, which is over, left it")
    remaining = {one.pid for one in end(found.processes)}
    for one in found.processes:
        done = "could not end" if one.pid in remaining else "ended"
        say(f"{done} pid {one.pid} {one.name}: job {one.job.id} of this agent, which is over, left it")
    return bool(found.processes or found.containers)


def whose(environ: Mapping[str, str], holders: Iterable[int]) -> list[str]:
    """A sentence for each holder that some job started."""
    ours, holding = Job.of(environ), set(holders)
    known = owned() if holding else []
    sentences = [_sentence(one, ours, known) for one in known if one.pid in holding]
    unknown = holding - {one.pid for one in known}
    inside = {pid: set(_CONTAINER.findall(process.cgroups_of(pid))) for pid in unknown}
    boxes = (containers.running(environ) or []) if any(inside.values()) else []
    return sentences + [
        f"pid {pid} runs in container {box.name} of job {box.job}"
        for pid, ids in sorted(inside.items())
        for box in boxes
        if box.id in ids
    ]


def _sentence(one: Owned, ours: Job, known: list[Owned]) -> str:
    if one.job.id == ours.id:
        return f"pid {one.pid} {one.name} is of this very job"
    if is_finished(one.job, ours, known):
        return f"pid {one.pid} {one.name} was left by job {one.job.id} of this agent, which is over"
    agent = one.job.agent_name or one.job.agent or "unknown"
    return f"pid {one.pid} {one.name} is of job {one.job.id} of agent {agent}"
