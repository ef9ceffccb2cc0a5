"""What a job hands over when it ends: files, a note, meta-data, by the real agent's commands over real HTTP."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys

import pytest

from ci.plugin.conftest import AGENT, GIB, PLUGIN, commit_all, guard

HMA = guard(profile="nixl-hma")
TEST = f"echo 'def test_a(): pass' > test_a.py; {sys.executable} -m pytest -q test_a.py"


def leak(agent, gib: float) -> str:
    """A command after which so much of the card is in use."""
    return f"printf 'gpu GPU-stub-0 {agent.driver.total} 0 0\\nunlisted {round(gib * GIB)}\\n' > {agent.driver.state}"


def notes(agent) -> list[dict]:
    return agent.api.told.annotations


def test_attempts_and_junit_of_a_job_are_uploaded(agent) -> None:
    job = agent.run(TEST, HMA)
    assert job.code == 0, job.log
    artifacts = agent.api.told.artifacts
    (attempts,) = [path for path in artifacts if path.endswith(".jsonl")]
    (junit,) = [path for path in artifacts if path.endswith(".xml")]
    assert attempts.startswith("gpu-guard/attempts-0a-job-")
    assert junit.startswith("gpu-guard/junit-0a-job-")
    lines = [json.loads(line) for line in artifacts[attempts].splitlines()]
    assert lines[0]["job"] == "0a-job"
    assert lines[1]["nodeid"] == "test_a.py::test_a"
    assert set(agent.api.told.states.values()) == {"finished"}
    assert notes(agent) == []


def test_a_job_that_left_memory_in_use_gets_a_note_and_meta_data(agent) -> None:
    job = agent.run(leak(agent, 10.9), HMA)
    assert job.code == 0, job.log
    assert "cuda:0: 22.00 GiB free before the job, 11.10 after: 10.90 GiB stay in use" in job.log
    (told,) = notes(agent)
    assert (told["scope"], told["context"], told["style"]) == ("job", "gpu-guard", "warning")
    assert "| cuda:0 | 22.00 GiB | 11.10 GiB | 10.90 GiB |" in told["body"]
    assert "on `an-agent`" in told["body"]
    assert "- cuda:0 is held by 10.90 GiB by what this machine does not list" in told["body"]
    assert json.loads(agent.api.told.meta_data["gpu-guard:0a-job"]) == {"lost_bytes": {"cuda:0": round(10.9 * GIB)}}


def test_a_process_that_outlives_its_job_is_named_in_the_log_and_in_the_note(agent, tmp_path) -> None:
    pid_file = tmp_path / "pid"
    orphan = f"setsid bash -c 'exec -a VLLM::EngineCore sleep 300' >/dev/null 2>&1 & echo $! > {pid_file}; disown -a"
    try:
        job = agent.run(f"{orphan}; {leak(agent, 10.9)}", HMA)
    finally:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
    assert f"(pid {int(pid_file.read_text())}) outlives this job" in job.log
    assert f"(pid {int(pid_file.read_text())}) outlives this job" in notes(agent)[0]["body"]


def test_a_card_that_is_lost_during_a_job_is_told(agent) -> None:
    job = agent.run(f": > {agent.driver.state}; exit 3", HMA)
    assert job.code == 3, job.log
    assert "gpu-guard: cuda:0 GPU-stub-0 was there before the job and gives no reading after it\n" in job.log
    assert notes(agent) == []


def test_a_failed_job_that_left_memory_still_ends_with_its_own_status(agent) -> None:
    job = agent.run(f"{leak(agent, 10.9)}; exit 3", HMA)
    assert job.code == 3, job.log
    assert len(notes(agent)) == 1


def test_a_step_can_do_without_the_note(agent) -> None:
    job = agent.run(leak(agent, 10.9), guard(profile="nixl-hma", annotate=False))
    assert "10.90 GiB stay in use" in job.log
    assert notes(agent) == []


def test_a_step_that_records_nothing_uploads_nothing_of_a_job_before(agent) -> None:
    agent.run(TEST, HMA)
    agent.api.told.artifacts.clear()
    job = agent.run("true", guard(profile="nixl-hma", record=False), BUILDKITE_GIT_CLEAN_FLAGS="-n")
    assert job.code == 0, job.log
    assert len(list((agent.checkout / ".gpu-guard" / "record").iterdir())) == 2
    assert agent.api.told.artifacts == {}


def test_recordings_with_an_older_date_are_uploaded_all_the_same(agent) -> None:
    """The clock of a file server may be behind the agent's."""
    job = agent.run(f"{TEST}; touch -d '1 hour ago' .gpu-guard/record/*", HMA)
    assert job.code == 0, job.log
    assert len(agent.api.told.artifacts) == 2


def test_a_job_that_removed_its_checkout_ends_as_with_any_plugin_that_has_such_a_hook(agent, tmp_path) -> None:
    """The agent runs no hook in a folder that is gone: it fails the job, whatever the hook would have done."""
    idle, alone = tmp_path / "idle-buildkite-plugin", tmp_path / PLUGIN.name
    (idle / "hooks").mkdir(parents=True)
    (idle / "plugin.yml").write_text("name: idle\n")
    (idle / "hooks" / "pre-exit").write_text("#!/bin/bash\ntrue\n")
    (idle / "hooks" / "pre-exit").chmod(0o755)
    shutil.copytree(PLUGIN, alone, ignore=shutil.ignore_patterns("__pycache__"))
    ended = []
    for folder, options in ((idle, {}), (alone, {"profile": "nixl-hma"})):
        commit_all(folder)
        ended.append(agent.run('rm -rf "$PWD"; exit 3', [{f"file://{folder}#main": options}]))
    assert ended[0].code == ended[1].code, ended[1].log
    assert "doesn't exist" in ended[0].log
    assert "doesn't exist" in ended[1].log


def test_a_job_that_removed_its_checkout_with_the_vendored_plugin_in_it_ends_as_it_ended(agent) -> None:
    assert agent.run('rm -rf "$PWD"; exit 3', HMA).code == 3


def test_a_job_that_removed_its_recordings_is_told_so_and_ends_as_it_ended(agent) -> None:
    job = agent.run("rm -rf .gpu-guard; exit 3", HMA)
    assert job.code == 3, job.log
    assert "gpu-guard: nothing is uploaded: [Errno 2] No such file or directory" in job.log


def test_a_step_can_do_without_recording(agent) -> None:
    job = agent.run(TEST, guard(profile="nixl-hma", record=False))
    assert job.code == 0, job.log
    assert agent.api.told.artifacts == {}
    assert not (agent.checkout / ".gpu-guard").exists()


@pytest.mark.parametrize("code", [1, 75])
def test_telemetry_that_fails_is_one_line_and_no_failed_job(agent, code: int) -> None:
    agent.program(
        "buildkite-agent",
        f"""#!/bin/sh
case "$1" in
  artifact|annotate) echo "no route to Buildkite" >&2; exit {code} ;;
  *) exec {AGENT} "$@" ;;
esac
""",
    )
    job = agent.run(f"{TEST}; {leak(agent, 10.9)}", HMA, BUILDKITE_BIN_PATH=str(agent.programs))
    assert job.code == 0, job.log
    assert "gpu-guard: buildkite-agent artifact upload failed: no route to Buildkite" in job.log
    assert "gpu-guard: buildkite-agent annotate failed: no route to Buildkite" in job.log


def test_an_agent_too_old_for_notes_of_jobs_puts_it_on_the_build(agent) -> None:
    agent.program(
        "buildkite-agent",
        f"""#!/bin/sh
case "$*" in
  *--scope*) echo "Incorrect Usage: flag provided but not defined: -scope"; echo; echo "usage text"; exit 1 ;;
  *) exec {AGENT} "$@" ;;
esac
""",
    )
    job = agent.run(leak(agent, 10.9), HMA, BUILDKITE_BIN_PATH=str(agent.programs))
    assert job.code == 0, job.log
    (told,) = notes(agent)
    assert told["context"] == "gpu-guard-0a-job"
    assert told.get("scope", "build") in ("build", "")


def test_a_link_that_the_job_put_among_its_recordings_is_never_followed(agent, tmp_path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("only the agent may read this")
    job = agent.run(f"ln -s {secret} .gpu-guard/record/attempts-x.jsonl", HMA)
    assert job.code == 0, job.log
    assert "attempts-x.jsonl is not uploaded" in job.log
    assert b"only the agent" not in b"".join(agent.api.told.artifacts.values())


def test_a_job_leaves_its_checkout_as_git_saw_it(agent) -> None:
    job = agent.run('echo "changed: $(git status --porcelain)"', HMA)
    assert "changed: \n" in job.log


def test_nothing_of_the_guard_stays_in_the_agents_temporary_folder(agent) -> None:
    agent.run(TEST, HMA)
    assert list((agent.folder / "tmp").glob("*gpu-guard*")) == []
