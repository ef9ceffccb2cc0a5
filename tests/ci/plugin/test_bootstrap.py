"""Jobs under the real agent: its bootstrap checks out, sources the hooks, runs the command, and ends as it ends."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time

import pytest

from ci.plugin.conftest import PLUGIN, clean_environment, commit_all, guard, interrupt_when, rest, says
from gpu_guard import __version__

SETTINGS = "env | grep ^GPU_GUARD_SET_ | sort"
HMA = guard(profile="nixl-hma")


def test_a_job_with_enough_memory_runs_with_the_settings_of_its_profile(agent) -> None:
    job = agent.run(SETTINGS, HMA)
    assert job.code == 0, job.log
    assert "GPU_GUARD_SET_UTILIZATION=0.3\n" in job.log
    assert "GPU_GUARD_SET_MAX_NUM_SEQS=1\n" in job.log
    assert "cuda:0: 22.00 GiB free before the job, 22.00 after" in job.log


@pytest.mark.parametrize("command", ["exit 0", "exit 3", "exit 75", "exit 137", "kill -TERM $$", "kill -KILL $$"])
def test_a_job_ends_as_it_would_without_the_plugin(agent, command: str) -> None:
    bare = agent.run(command, [])
    guarded = agent.run(command, HMA)
    assert guarded.code == bare.code, guarded.log
    assert "free before the job" in guarded.log


def test_too_little_memory_refuses_with_75_and_the_command_never_starts(agent) -> None:
    agent.driver.fill(20, pid=1)
    job = agent.run("echo the command runs", guard(utilization=0.47, wait=0))
    assert job.code == 75, job.log
    assert "the command runs\n" not in job.log.partition("gpu-guard:")[2]
    assert "^^^ +++\ngpu-guard: cuda:0 has 2.00 of 22.00 GiB free; 0.47 asks 10.34 GiB" in job.log
    assert "held by pid 1 " in job.log


def test_a_step_that_asks_only_to_be_warned_goes_on(agent) -> None:
    agent.driver.fill(20)
    job = agent.run("echo went on", guard(utilization=0.47, wait=0, on_contention="warn"))
    assert job.code == 0, job.log
    assert "short by" in job.log


def test_a_job_waits_until_memory_comes_back(agent) -> None:
    agent.driver.fill(20)
    job = agent.start("echo it has the card", guard(utilization=0.47, wait=60))
    assert "waiting 0 of 60 s" in says(job, "waiting ")
    agent.driver.fill(0)
    ended = rest(job)
    assert ended.code == 0, ended.log
    assert "it has the card\n" in ended.log


def test_without_a_gpu_a_job_is_refused_with_2_or_goes_on_as_the_step_says(agent) -> None:
    agent.driver.none()
    refused = agent.run("true", HMA)
    assert refused.code == 2, refused.log
    assert "no GPU is visible here" in refused.log
    passed = agent.run(SETTINGS, guard(profile="nixl-hma", on_no_gpu="pass"))
    assert passed.code == 0, passed.log
    assert "GPU_GUARD_SET_UTILIZATION=0.3\n" in passed.log


def test_every_mistake_in_the_options_is_named_at_once(agent) -> None:
    wrong = guard(utilisation=0.3, wait="60", on_contention="wait")
    job = agent.run("true", wrong, BUILDKITE_PLUGIN_VALIDATION="false")
    assert job.code == 2, job.log
    assert "gpu-guard: utilisation: there is no such option; utilization is meant?" in job.log
    assert 'gpu-guard: wait: must be a whole number, not "60"' in job.log
    assert 'gpu-guard: on-contention: must be refuse or warn, not "wait"' in job.log


def test_the_agents_own_validation_refuses_what_the_guard_refuses(agent) -> None:
    job = agent.run("true", guard(utilisation=0.3))
    assert job.code != 0
    assert "utilisation" in job.log
    assert "gpu-guard: " not in job.log


def test_a_null_is_named_although_the_agent_then_hands_over_no_options_at_all(agent) -> None:
    job = agent.run("true", guard(profile=None, utilization=0.3), BUILDKITE_PLUGIN_VALIDATION="false")
    assert job.code == 2, job.log
    assert "gpu-guard: profile: must be a text, not null" in job.log


def test_a_step_that_asks_for_no_memory_is_let_through_and_told_so(agent) -> None:
    agent.driver.fill(21.9)
    job = agent.run("true", [f"./ci/{PLUGIN.name}"])
    assert job.code == 0, job.log
    assert "gpu-guard: cuda:0 has 0.10 of 22.00 GiB free; this step asks for none\n" in job.log


def test_the_plugin_is_fetched_from_a_repository_of_its_own(agent, tmp_path) -> None:
    alone = tmp_path / "plugins-of-ours" / PLUGIN.name
    shutil.copytree(PLUGIN, alone, ignore=shutil.ignore_patterns("__pycache__"))
    commit_all(alone)
    job = agent.run(SETTINGS, [{f"file://{alone}#main": {"profile": "nixl-hma"}}])
    assert job.code == 0, job.log
    assert "GPU_GUARD_SET_UTILIZATION=0.3\n" in job.log


def test_the_plugin_is_fetched_out_of_a_larger_repository_as_the_readme_names_it(agent, tmp_path) -> None:
    whole, bare = tmp_path / "whole", tmp_path / "flake-report.git"
    shutil.copytree(PLUGIN, whole / "ci" / PLUGIN.name, ignore=shutil.ignore_patterns("__pycache__"))
    commit_all(whole)
    inside = f"ci/{PLUGIN.name}#v{__version__}"
    assert f"flake-report.git/{inside}:" in (PLUGIN / "README.md").read_text()
    for command in (["-C", whole, "tag", f"v{__version__}"], ["clone", "-q", "--bare", whole, bare]):
        subprocess.run(["git", *command], env=clean_environment(), check=True)
    job = agent.run(SETTINGS, [{f"file://{bare}/{inside}": {"profile": "nixl-hma"}}])
    assert job.code == 0, job.log
    assert "GPU_GUARD_SET_UTILIZATION=0.3\n" in job.log


def test_a_cancelled_job_ends_as_it_would_and_is_still_looked_at(agent, tmp_path) -> None:
    sign = tmp_path / "started"
    command = f"touch {sign}; exec sleep 60"
    bare = interrupt_when(agent.start(command, []), sign, signal.SIGTERM)
    sign.unlink()
    guarded = interrupt_when(agent.start(command, HMA), sign, signal.SIGTERM)
    assert guarded.code == bare.code, guarded.log
    assert "22.00 GiB free before the job" in guarded.log


def test_a_job_out_of_time_ends_as_it_would_and_is_still_looked_at(agent, tmp_path) -> None:
    marker = tmp_path / "timed-out"
    marker.write_text("")
    sign = tmp_path / "started"
    more = {"BUILDKITE_AGENT_JOB_TIMEOUT_FILE": str(marker)}
    command = f"touch {sign}; exec sleep 60"
    bare = interrupt_when(agent.start(command, [], **more), sign, signal.SIGTERM)
    sign.unlink()
    guarded = interrupt_when(agent.start(command, HMA, **more), sign, signal.SIGTERM)
    assert guarded.code == bare.code, guarded.log
    assert "22.00 GiB free before the job" in guarded.log


def test_a_job_cancelled_while_it_waits_ends_long_before_it_would_have(agent) -> None:
    agent.driver.fill(20)
    job = agent.start("true", guard(utilization=0.47, wait=86400))
    assert "waiting 0 of 86400 s" in says(job, "waiting ")
    job.send_signal(signal.SIGTERM)
    assert rest(job).code != 0


def test_what_a_finished_job_of_this_agent_left_is_ended_where_the_step_asks_for_it(agent) -> None:
    of_old_job = {**clean_environment(), "BUILDKITE_JOB_ID": "an-old-job", "BUILDKITE_AGENT_ID": "agent-1"}
    left = subprocess.Popen(
        ["bash", "-c", "exec -a VLLM::EngineCore sleep 300"], env=of_old_job, start_new_session=True
    )
    try:
        agent.driver.fill(20, pid=left.pid)
        kept = agent.run("true", guard(utilization=0.47, wait=0), BUILDKITE_AGENT_ID="agent-1")
        assert kept.code == 75, kept.log
        assert f"pid {left.pid}" in kept.log
        assert left.poll() is None
        ended = agent.run("true", guard(clean_own_leftovers=True), BUILDKITE_AGENT_ID="agent-1")
        assert ended.code == 0, ended.log
        assert left.wait(timeout=20) == -signal.SIGTERM
        assert "an-old-job" in ended.log
    finally:
        left.kill()
        left.wait()


def test_a_job_that_runs_beside_another_of_its_agent_keeps_its_engine(agent, tmp_path) -> None:
    sign = tmp_path / "pid"
    both = {"BUILDKITE_AGENT_ID": "agent-1"}
    first = agent.start(f"echo $$ > {sign}; exec -a VLLM::EngineCore sleep 120", HMA, **both, BUILDKITE_JOB_ID="0b-job")
    says(first, "Running commands")
    deadline = time.monotonic() + 30
    while not sign.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    agent.driver.fill(20, pid=int(sign.read_text()))
    elsewhere = {"BUILDKITE_BUILD_PATH": str(tmp_path / "elsewhere")}
    second = agent.run("true", guard(utilization=0.47, wait=0, clean_own_leftovers=True), **both, **elsewhere)
    assert second.code == 75, second.log
    assert f"pid {sign.read_text().strip()} VLLM::EngineCore is of job 0b-job of agent an-agent" in second.log
    assert first.poll() is None
    first.send_signal(signal.SIGTERM)
    rest(first)


def test_a_file_in_the_way_of_the_recordings_is_left_alone_and_the_job_runs(agent) -> None:
    agent.commit({".gpu-guard": "a file of the repository\n"})
    job = agent.run("cat .gpu-guard", HMA)
    assert job.code == 0, job.log
    assert "gpu-guard: the tests run unrecorded: " in job.log
    assert "a file of the repository\n" in job.log


def test_the_readme_shows_what_jobs_print(agent) -> None:
    def general(line: str) -> str:
        return re.sub(r"pid N [\w:]+", "pid N", re.sub(r"[\d.]*\d", "N", line))

    holder = subprocess.Popen(["sleep", "60"])
    agent.driver.fill(20, pid=holder.pid)
    full = f"printf 'gpu GPU-stub-0 {agent.driver.total} 0 0\\nunlisted {11 * 2**30}\\n' > {agent.driver.state}"
    job = agent.start(full, guard(utilization=0.47))
    log = says(job, "is held by")
    agent.driver.fill(0)
    log += rest(job).log
    holder.kill()
    holder.wait()
    printed = {general(line) for line in log.splitlines()}
    shown = [line for line in (PLUGIN / "README.md").read_text().splitlines() if line.startswith("gpu-guard: ")]
    assert len(shown) == 4
    assert [line for line in shown if general(line) not in printed] == []


def test_what_the_guard_got_wrong_itself_is_shown_and_the_job_goes_on(agent) -> None:
    broken = agent.repository / "ci" / PLUGIN.name / "gpu_guard" / "guard.py"
    broken.write_text("raise ValueError('broken on purpose')\n")
    commit_all(agent.repository)
    job = agent.run("echo the command runs", HMA)
    assert job.code == 0, job.log
    assert "ValueError: broken on purpose" in job.log
    assert "this is a bug in gpu-guard; the job goes on without it" in job.log


def test_an_agent_without_python_says_so_and_runs_the_job(agent, tmp_path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("bash", "env", "git", "rm", "mktemp", "cat", "uname", "dirname", "ssh-keyscan"):
        found = shutil.which(name)
        if found:
            (bare / name).symlink_to(found)
    job = agent.run("echo the command runs", HMA, PATH=str(bare))
    assert job.code == 0, job.log
    assert "gpu-guard: python3 did not get through (exit status 127): the job runs unguarded" in job.log
