"""The hooks in worlds that are not as they should be: the job ends as it would, and the log says in a line what is off.

Each runs as the agent runs it: sourced by a bash, one after the other, in an environment that is the job's alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ci.plugin.conftest import PLUGIN

HANGING = """
#include <unistd.h>
int nvmlInit_v2(void) { for (;;) sleep(60); }
"""

HELD_UP = "import os, sys; from gpu_guard.hooks import {module}; {module}.SLACK = 0.5; {call}"


@pytest.fixture
def world(driver, tmp_path: Path) -> dict[str, str]:
    """What a job's hooks find: no more than an agent must give them."""
    (tmp_path / "checkout").mkdir()
    return {
        "PATH": "/usr/bin:/bin", **driver.environment,
        "BUILDKITE_BUILD_CHECKOUT_PATH": str(tmp_path / "checkout"),
        "BUILDKITE_JOB_ID": "a-job",
        "BUILDKITE_PLUGIN_CONFIGURATION": '{"utilization": 0.3, "wait": 0}',
    }  # fmt: skip


@pytest.fixture
def hanging(tmp_path: Path) -> dict[str, str]:
    """A driver that was never heard of again."""
    source = tmp_path / "hanging.c"
    source.write_text(HANGING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libnvidia-ml.so.1", source], check=True)
    return {"LD_LIBRARY_PATH": str(tmp_path)}


def hooked(world: dict[str, str] | dict[bytes, bytes], command: str = "true") -> subprocess.CompletedProcess[bytes]:
    """A job: the hook before, the command in the environment that it left, the hook after, and the command's status."""
    hooks = f"{PLUGIN}/hooks"
    script = f". {hooks}/pre-command || exit $?; ( {command} ); status=$?; . {hooks}/pre-exit || exit 99; exit $status"
    return subprocess.run(["bash", "-c", script], env=world, capture_output=True, check=False, timeout=60)


def test_bytes_that_are_no_text_arrive_as_they_were(world, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b'/it\'s \xff a "$HOME"\n folder'
    os.mkdir(odd)  # noqa: PTH102  # a path of bytes
    told = {**{os.fsencode(name): os.fsencode(value) for name, value in world.items()}, b"PYTHONPATH": b"/mine/\xff"}
    told[b"BUILDKITE_BUILD_CHECKOUT_PATH"] = odd
    done = hooked(told, 'printf "%s|%s" "$GPU_GUARD_RECORD" "$PYTHONPATH"')
    assert done.returncode == 0, done.stdout
    assert odd + b"/.gpu-guard/record|" + odd + b"/.gpu-guard/lib:/mine/\xff" in done.stdout
    assert b"bug" not in done.stdout + done.stderr
    assert os.path.isdir(odd + b"/.gpu-guard/record")  # noqa: PTH112  # a path of bytes


@pytest.mark.parametrize("status", [0, 3, 75])
def test_an_environment_as_large_as_the_kernel_allows_changes_nothing(world, status: int) -> None:
    large = {f"LARGE_{number}": "x" * 100_000 for number in range(18)}
    done = hooked({**world, **large}, f"exit {status}")
    assert done.returncode == status
    assert b"22.00 GiB free before the job, 22.00 after" in done.stdout


def test_a_choice_of_cards_of_any_length_is_a_choice_of_none(world) -> None:
    done = hooked({**world, "CUDA_VISIBLE_DEVICES": "9" * 5000})
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["a\\u0000b", "\\ud800", "a\\nb"])
def test_a_file_of_profiles_with_no_possible_name_is_refused(world, name: str) -> None:
    done = hooked({**world, "BUILDKITE_PLUGIN_CONFIGURATION": f'{{"profile": "a", "profiles-file": "{name}"}}'})
    assert done.returncode == 2
    assert b"the profiles cannot be read: " in done.stdout
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == b""


def test_a_step_whose_output_nobody_reads_ends_as_it_would(world) -> None:
    script = f". {PLUGIN}/hooks/pre-command; (exit 3); status=$?; . {PLUGIN}/hooks/pre-exit || exit 99; exit $status"
    done = subprocess.run(["bash", "-c", f"exec >&- 2>&-; {script}"], env=world, check=False, timeout=60)
    assert done.returncode == 3


def test_a_title_of_a_holder_cannot_write_lines_of_the_log(world, driver) -> None:
    holder = subprocess.Popen([b"x\n^^^ +++\ngpu-guard: \xff\x1b[31m", "30"], executable="/bin/sleep")
    driver.fill(20, pid=holder.pid)
    done = hooked(world)
    holder.kill()
    holder.wait()
    assert done.returncode == 75
    assert [line.partition(b" ")[0] for line in done.stdout.splitlines()] == [b"^^^", b"gpu-guard:", b"gpu-guard:"]


def test_the_cards_after_a_job_are_those_before_it_whatever_its_command_was_given(world) -> None:
    """As where a hook that runs later hands the command a card of its own."""
    script = f". {PLUGIN}/hooks/pre-command; export CUDA_VISIBLE_DEVICES=7; . {PLUGIN}/hooks/pre-exit"
    done = subprocess.run(["bash", "-c", script], env=world, capture_output=True, check=False, timeout=60)
    assert b"gpu-guard: cuda:0: 22.00 GiB free before the job, 22.00 after\n" in done.stdout


@pytest.mark.parametrize(("contention", "status"), [("refuse", 75), ("warn", 0)])
def test_a_driver_that_never_answers_does_not_hold_a_job_for_ever(world, hanging, contention: str, status: int) -> None:
    options = f'{{"utilization": 0.3, "wait": 0, "on-contention": "{contention}"}}'
    done = held_up("prior", "prior.run(os.environ, sys.argv[1])", {**world, **hanging}, options)
    assert done.returncode == status
    assert done.stdout == b"gpu-guard: no end after 0 s: the GPU driver, docker or the agent does not answer\n"


def test_a_driver_that_never_answers_after_the_job_leaves_its_end_alone(world, hanging, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"before": {"devices": []}, "choice": {}, "annotate": true, "recorded": false, "checkout": "/"}')
    done = held_up("post", "post.run(os.environ)", {**world, **hanging, "GPU_GUARD_STATE": str(state)})
    assert done.returncode == 0
    assert b"does not answer" in done.stdout


def held_up(module: str, call: str, world: dict[str, str], options: str = "{}") -> subprocess.CompletedProcess[bytes]:
    """A hook's Python whose patience is half a second."""
    told = {**world, "PYTHONPATH": str(PLUGIN), "BUILDKITE_PLUGIN_CONFIGURATION": options}
    command = ["python3", "-B", "-c", HELD_UP.format(module=module, call=call), "/dev/null"]
    return subprocess.run(command, env=told, capture_output=True, check=False, timeout=30)
