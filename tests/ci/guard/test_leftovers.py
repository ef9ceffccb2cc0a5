"""Leftovers of jobs: real processes, of which those alone are ended that a finished job of this agent left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from gpu_guard import leftovers
from gpu_guard.leftovers.ending import end
from gpu_guard.leftovers.owner import Job, Owned, is_finished, owned
from gpu_guard.memory import process


def clean(jobs, *holders: int) -> list[str]:
    said: list[str] = []
    leftovers.clean(jobs.this, holders, said.append)
    return said


def wait_for(fact: Callable[[], object]) -> None:
    until = time.monotonic() + 10
    while not fact():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_an_orphaned_engine_of_a_finished_job_of_this_agent_is_named_and_ended(jobs):
    pid = jobs.engine(jobs.old)
    assert process.parent_of(pid) != os.getpid()
    old = jobs.old["BUILDKITE_JOB_ID"]
    assert clean(jobs) == [f"ended pid {pid} VLLM::EngineCore: job {old} of this agent, which is over, left it"]
    assert not process.is_alive(pid)
    assert clean(jobs) == []


@pytest.mark.parametrize(
    "change",
    [
        {"BUILDKITE_AGENT_ID": "another", "BUILDKITE_AGENT_NAME": "another"},
        {"BUILDKITE_AGENT_ID": "another"},
        {"BUILDKITE_AGENT_ID": "", "BUILDKITE_AGENT_NAME": ""},
        {"BUILDKITE_JOB_ID": ""},
    ],
    ids=["another agent's", "an agent of this name that may still run", "an agent that is not known", "no job's"],
)
def test_an_engine_of_anybody_else_is_left_alone(jobs, change):
    pid = jobs.engine({**jobs.old, **change})
    assert clean(jobs, pid) == []
    assert process.is_alive(pid)


def test_an_engine_of_this_very_job_is_left_alone(jobs):
    pid = jobs.engine(jobs.this | {"PATH": os.environ["PATH"]})
    assert clean(jobs, pid) == []
    assert process.is_alive(pid)


def test_outside_of_a_job_nothing_is_touched(jobs):
    pid = jobs.engine(jobs.old)
    assert not leftovers.clean({"PATH": "/nonexistent"}, [pid], pytest.fail)
    assert process.is_alive(pid)


@pytest.mark.parametrize("command", ["bootstrap", "kubernetes-bootstrap"])
def test_a_job_whose_bootstrap_still_runs_is_not_over(jobs, tmp_path, command):
    (tmp_path / command).write_text("sleep 100; exit\n")
    bootstrap = jobs.orphan(f"cd {tmp_path}; exec -a buildkite-agent bash {command}", jobs.old)
    jobs.titled(bootstrap, "buildkite-agent")
    engine = jobs.engine(jobs.old)
    assert clean(jobs) == []
    assert process.is_alive(engine)
    os.kill(bootstrap, signal.SIGKILL)
    wait_for(lambda: not process.is_alive(bootstrap))
    assert len(clean(jobs)) == 1
    assert not process.is_alive(engine)


def test_what_is_no_engine_goes_only_where_it_holds_gpu_memory(jobs):
    daemon = jobs.titled(jobs.orphan("exec -a cache-server sleep 100", jobs.old), "cache-server")
    assert clean(jobs) == []
    assert process.is_alive(daemon)
    assert len(clean(jobs, daemon)) == 1
    assert not process.is_alive(daemon)


def ended_process() -> int:
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_after_a_restart_of_the_agent_its_old_jobs_are_over_once_its_process_is_gone(jobs):
    before = {**jobs.old, "BUILDKITE_AGENT_ID": "the id before"}
    running = jobs.engine({**before, "BUILDKITE_AGENT_PID": str(os.getpid())})
    gone = jobs.engine(
        {**before, "BUILDKITE_JOB_ID": "x" + before["BUILDKITE_JOB_ID"], "BUILDKITE_AGENT_PID": str(ended_process())}
    )
    assert [line.split()[2] for line in clean(jobs)] == [str(gone)]
    assert process.is_alive(running)


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000, "-1", "a", ""])
def test_where_the_agent_of_then_has_no_possible_number_its_job_may_run_still(jobs, number):
    engine = jobs.engine({**jobs.old, "BUILDKITE_AGENT_ID": "before", "BUILDKITE_AGENT_PID": number})
    assert clean(jobs, engine) == []
    assert process.is_alive(engine)


def test_the_agent_of_then_is_gone_where_its_number_is_a_younger_process_s(jobs):
    older = jobs.engine({**jobs.old, "BUILDKITE_AGENT_ID": "before"})
    time.sleep(0.05)  # start times count in hundredths of a second
    younger = jobs.engine({**jobs.old, "BUILDKITE_AGENT_ID": "before"})

    def over(pid: int, agent_pid: int) -> bool:
        job = Job(jobs.old["BUILDKITE_JOB_ID"], "before", jobs.old["BUILDKITE_AGENT_NAME"], str(agent_pid))
        return is_finished(job, Job.of(jobs.this), [Owned(pid, process.started(pid), "x", job)])

    assert over(older, younger)
    assert not over(younger, older)


def test_an_engine_that_emptied_its_environment_is_known_by_its_session(jobs):
    front = jobs.orphan("env -i bash -c 'exec -a VLLM::EngineCore sleep 100' & exec -a front sleep 100", jobs.old)
    session = process.session_of(jobs.titled(front, "front"))

    def engines() -> list[int]:
        pids = [pid for pid in process.every_pid() if process.session_of(pid) == session]
        return [pid for pid in pids if process.name_of(pid) == "VLLM::EngineCore"]

    wait_for(engines)
    (engine,) = engines()
    assert "BUILDKITE_JOB_ID" not in process.environment_of(engine)
    assert [line.split()[2] for line in clean(jobs)] == [str(engine)]


TERMINAL = """
env -i bash -c 'exec -a VLLM::EngineCore sleep 100' &
env "$@" sleep 100 &
wait
"""


def test_a_session_that_others_led_gives_no_process_to_a_job(jobs):
    """An agent in a terminal: what else was started there is not its job's."""
    variables = [f"{name}={value}" for name, value in jobs.old.items()]
    terminal = subprocess.Popen(["bash", "-c", TERMINAL, "terminal", *variables], start_new_session=True)
    try:

        def names() -> list[str]:
            pids = [pid for pid in process.every_pid() if process.session_of(pid) == terminal.pid]
            return sorted(process.name_of(pid) for pid in pids)

        wait_for(lambda: names() == ["VLLM::EngineCore", "bash", "sleep"])
        assert [one.name for one in owned() if one.job.id == jobs.old["BUILDKITE_JOB_ID"]] == ["sleep"]
        assert clean(jobs) == []
    finally:
        os.killpg(terminal.pid, signal.SIGKILL)
        terminal.wait()


def test_what_began_before_the_job_in_a_session_without_its_first_process_is_not_the_job_s(jobs):
    """Within one tick of the clock, too: such a session is what a CI that was itself started by another one runs in."""
    variables = " ".join(f"{name}={value}" for name, value in jobs.old.items())
    front = jobs.orphan(f"env -i sleep 100 & {variables} bash -c 'exec -a front sleep 100' & wait", {})
    session = process.session_of(front)

    def of_session(name: str) -> list[int]:
        pids = [pid for pid in process.every_pid() if process.session_of(pid) == session]
        return [pid for pid in pids if process.name_of(pid) == name]

    wait_for(lambda: of_session("front") and of_session("sleep"))
    assert process.started(session) == 0
    assert [one.name for one in owned() if one.job.id == jobs.old["BUILDKITE_JOB_ID"]] == ["front"]
    assert clean(jobs, *of_session("sleep")) == []


def test_a_session_that_began_outside_of_this_container_gives_no_process_to_a_job(jobs, monkeypatch):
    jobs.orphan("env -i sleep 100 & exec -a front sleep 100", jobs.old)
    monkeypatch.setattr(process, "session_of", lambda _: 0)
    wait_for(lambda: [one for one in owned() if one.name == "front" and one.job.id == jobs.old["BUILDKITE_JOB_ID"]])
    assert len([one for one in owned() if one.job.id == jobs.old["BUILDKITE_JOB_ID"]]) == 1


STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)


@pytest.mark.parametrize("pidfd", [True, False], ids=["by pidfd", "by number and start time"])
def test_who_ignores_the_request_is_killed(monkeypatch, pidfd):
    if not pidfd:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    polite = subprocess.Popen(["sleep", "60"])
    stubborn = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, text=True)
    assert stubborn.stdout.readline() == "ready\n"
    job = Job("j", "", "", "")
    whom = [Owned(child.pid, process.started(child.pid), "x", job) for child in (polite, stubborn)]
    assert end(whom, patience=0.3) == []
    assert (polite.wait(), stubborn.wait()) == (-signal.SIGTERM, -signal.SIGKILL)
    stubborn.stdout.close()


@pytest.mark.parametrize("pidfd", [True, False], ids=["by pidfd", "by number and start time"])
def test_a_process_that_got_the_number_since_is_not_touched(monkeypatch, pidfd):
    if not pidfd:
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    other = subprocess.Popen(["sleep", "60"])
    try:
        assert end([Owned(other.pid, process.started(other.pid) - 1, "x", Job("j", "", "", ""))]) == []
        assert process.is_alive(other.pid)
    finally:
        other.kill()
        other.wait()


def test_who_is_gone_already_is_no_trouble():
    assert end([Owned(ended_process(), 1, "x", Job("j", "", "", ""))]) == []


BOOTSTRAP = """
import os, subprocess, sys
from gpu_guard import leftovers
left = subprocess.run(["bash", "-c", "exec -a VLLM::EngineCore sleep 100 >/dev/null 2>&1 & echo $!"],
                      capture_output=True, text=True, check=True, start_new_session=True)
running = subprocess.Popen(["sleep", "100"])
print(left.stdout.strip(), [one.pid for one in leftovers.of_job(os.environ)], flush=True)
running.kill()
running.wait()
"""


def test_at_the_end_of_a_job_its_orphans_are_found_and_what_still_belongs_to_it_is_not(jobs, machine):
    done = subprocess.run(
        [sys.executable, "-c", BOOTSTRAP], env={**machine.environment, **jobs.this, "PATH": os.environ["PATH"]},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    pid, found = done.stdout.split(maxsplit=1)
    jobs.sessions.add(process.session_of(int(pid)))
    assert found.strip() == f"[{pid}]"


def test_outside_of_a_job_nothing_is_left_behind():
    assert leftovers.of_job({}) == []


def test_each_holder_is_told_by_its_job(jobs):
    stale = jobs.engine(jobs.old)
    others = jobs.engine({**jobs.old, "BUILDKITE_AGENT_ID": "z", "BUILDKITE_AGENT_NAME": "gpu-7"})
    mine = jobs.engine(jobs.this | {"PATH": os.environ["PATH"]})
    old = jobs.old["BUILDKITE_JOB_ID"]
    expected = {
        f"pid {stale} VLLM::EngineCore was left by job {old} of this agent, which is over",
        f"pid {others} VLLM::EngineCore is of job {old} of agent gpu-7",
        f"pid {mine} VLLM::EngineCore is of this very job",
    }
    assert set(leftovers.whose(jobs.this, [stale, others, mine, os.getpid()])) == expected
    assert leftovers.whose(jobs.this, []) == []
