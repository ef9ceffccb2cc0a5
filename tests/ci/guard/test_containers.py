"""Containers of finished jobs, by their labels: a stub docker that writes down what it is asked."""

from __future__ import annotations

import os

import pytest

from gpu_guard import leftovers
from gpu_guard.leftovers.containers import running
from gpu_guard.memory import process

FORMAT = '{{.ID}}\t{{.Names}}\t{{.Label "com.buildkite.job-id"}}\t{{.Label "com.buildkite.agent_id"}}'
OLD, OTHER, THIS, BARE = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


@pytest.fixture
def docker(jobs, tmp_path):
    """A docker with four containers; `asked` has the arguments of each call, one on a line."""

    def make(stop: str = "exit 0") -> dict[str, str]:
        old, agent = jobs.old["BUILDKITE_JOB_ID"], jobs.old["BUILDKITE_AGENT_ID"]
        rows = [
            f"{OLD}\told-engine\t{old}\t{agent}",
            f"{OTHER}\tneighbour\t{old}\tanother-agent",
            f"{THIS}\tsidecar\t{jobs.this['BUILDKITE_JOB_ID']}\t{agent}",
            f"{BARE}\tunlabelled\t{old}\t",
        ]
        (tmp_path / "rows").write_text("\n".join(rows) + "\n")
        program = tmp_path / "docker"
        program.write_text(
            f"#!/bin/sh\n(IFS='|'; echo \"$*\") >> {tmp_path}/asked\n"
            f"case $1 in ps) /bin/cat {tmp_path}/rows ;; stop) {stop} ;; esac\n"
        )
        program.chmod(0o755)
        return {**jobs.this, "PATH": str(tmp_path)}

    return make


def test_the_container_of_a_finished_job_of_this_agent_is_stopped_and_no_other(docker, jobs, tmp_path):
    said: list[str] = []
    assert leftovers.clean(docker(), [], said.append)
    old = jobs.old["BUILDKITE_JOB_ID"]
    assert said == [f"stopped container old-engine: job {old} of this agent, which is over, left it"]
    assert (tmp_path / "asked").read_text().splitlines() == [
        f"ps|--no-trunc|--filter|label=com.buildkite.job-id|--format|{FORMAT}",
        f"stop|-t|10|{OLD}",
    ]


def test_a_container_that_does_not_stop_is_said(docker):
    said: list[str] = []
    leftovers.clean(docker("exit 1"), [], said.append)
    assert said[0].startswith("could not stop container old-engine: ")


def test_without_docker_there_is_nothing(jobs):
    assert running(jobs.this) is None
    assert leftovers.stale(jobs.this, []).containers == []


def test_a_process_in_a_container_is_told_by_its_control_group(docker, jobs, tmp_path, monkeypatch):
    """The driver lists the process under its number here; the kernel tells which container it is of."""
    proc = tmp_path / "proc"
    for pid, line in {
        900001: f"0::/system.slice/docker-{OTHER}.scope\n",
        900002: f"12:memory:/docker/{BARE}\n0::/docker/{BARE}\n",
        900003: "0::/user.slice\n",
    }.items():
        (proc / str(pid)).mkdir(parents=True)
        (proc / str(pid) / "cgroup").write_text(line)
    (proc / str(os.getpid())).mkdir()
    environ = docker()
    monkeypatch.setattr(process, "_PROC", proc)
    old = jobs.old["BUILDKITE_JOB_ID"]
    assert leftovers.whose(environ, [900001, 900002, 900003]) == [
        f"pid 900001 runs in container neighbour of job {old}",
        f"pid 900002 runs in container unlabelled of job {old}",
    ]
