"""The whole check, in a process of its own as the hook runs it: exit status, sentences, settings."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ci.pythons import python39
from gpu_guard import guard
from gpu_guard.memory import NoMeter, process
from gpu_guard.memory.amd import AmdMeter

GIB = 2**30
FULL = f"unlisted {18 * GIB}"

HMA = [
    "export GPU_GUARD_PROFILE=nixl-hma",
    "export GPU_GUARD_SET_MAX_NUM_SEQS=1",
    "export GPU_GUARD_SET_MAX_NUM_BATCHED_TOKENS=2048",
    "export GPU_GUARD_SET_BLOCK_SIZE=16",
    "export GPU_GUARD_SET_MAX_MODEL_LEN=2048",
    "export GPU_GUARD_SET_ENFORCE_EAGER=true",
    "export GPU_GUARD_SET_ENABLE_PREFIX_CACHING=false",
    "export VLLM_ENABLE_V1_MULTIPROCESSING=0",
]


def test_an_empty_card_gives_the_profile_as_it_is(machine):
    done = machine.guard("check", "--profile", "nixl-hma")
    assert done.returncode == 0
    assert done.stderr == (
        "cuda:0 has 22.00 of 22.00 GiB free; 0.3 asks 6.60 GiB and 0.52 GiB for its context: it fits\n"
    )
    assert done.stdout.splitlines() == [*HMA, "export GPU_GUARD_SET_UTILIZATION=0.3"]


def test_a_card_that_is_half_full_lowers_the_utilization(machine):
    machine.fill(f"unlisted {17 * GIB}")
    done = machine.guard("check", "--profile", "nixl-hma")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "export GPU_GUARD_SET_UTILIZATION=0.2"


def test_a_full_card_is_contention_and_its_holders_are_told(machine, jobs):
    pid = jobs.engine(jobs.old)
    machine.fill(f"process {pid} {18 * GIB}", f"unlisted {2 * GIB}")
    done = machine.guard("check", "--profile", "nixl-hma", **{**jobs.this, "PATH": machine.environment["PATH"]})
    assert done.returncode == 75
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        (
            "cuda:0 has 2.00 of 22.00 GiB free; 0.3 asks 6.60 GiB and 0.52 GiB for its context, and 0.16, the least "
            "that will do, 3.52 GiB: short by 2.11 GiB"
        ),
        (
            f"cuda:0 is held by pid {pid} VLLM::EngineCore (18.00 GiB), 2.00 GiB by what this machine does not list: "
            "a process outside this container"
        ),
        f"pid {pid} VLLM::EngineCore was left by job {jobs.old['BUILDKITE_JOB_ID']} of this agent, which is over",
    ]


def test_own_leftovers_are_ended_only_where_that_is_asked_and_their_memory_is_waited_for(machine, jobs):
    pid = jobs.engine(jobs.old)
    machine.fill(f"process {pid} {18 * GIB}")
    env = {**jobs.this, "PATH": machine.environment["PATH"]}
    assert machine.guard("check", "--utilization", "0.3", **env).returncode == 75
    assert process.is_alive(pid)

    def give_back() -> None:
        """The stub's memory is a file: a driver that takes its time."""
        while process.is_alive(pid):
            time.sleep(0.01)
        time.sleep(0.5)
        machine.fill()

    driver = threading.Thread(target=give_back)
    driver.start()
    done = machine.guard("check", "--utilization", "0.3", "--clean-own-leftovers", **env)
    driver.join()
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"ended pid {pid} VLLM::EngineCore: job {jobs.old['BUILDKITE_JOB_ID']} of this agent")


def test_going_on_anyway_starts_with_the_least(machine):
    machine.fill(f"unlisted {20 * GIB}")
    done = machine.guard("check", "--profile", "nixl-hma", "--on-contention", "warn")
    assert done.returncode == 0
    assert "short by" in done.stderr
    assert done.stdout.splitlines() == [*HMA, "export GPU_GUARD_SET_UTILIZATION=0.02"]


def test_it_waits_for_memory_that_comes_back(machine):
    machine.fill(FULL)
    waiting = machine.begin("check", "--utilization", "0.3", "--wait", "60")
    assert waiting.stderr.readline().startswith("waiting 0 of 60 s: cuda:0 has 4.00 of 22.00 GiB free")
    who = waiting.stderr.readline()
    assert who.startswith("  cuda:0 is held by 18.00 GiB by what this machine does not list")
    machine.fill()
    shown, told = waiting.communicate(timeout=70)
    assert waiting.returncode == 0, told
    back, last = told.splitlines()
    assert re.match(r"waiting \d+ of 60 s: cuda:0 has 22.00", back)
    assert re.search(r"it fits after \d+ s$", last)
    assert shown == "export GPU_GUARD_SET_UTILIZATION=0.3\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--profile", "nixl"), "no profile is named 'nixl'"),
        (("--profile", "nixl-hma", "--utilization", "0.01"), "utilization 0.01 is below 0.02, the floor of profile"),
        (("--min-free", "30"), "min-free asks 30.00 GiB, more than the 22.00 GiB that cuda:0 has: no wait helps"),
        (("--utilization", "1.5"), "must be above 0 and at most 1, not 1.5"),
        (("--utilization", "nan"), "must be a number, not nan"),
        (("--utilization", "half"), "argument --utilization: must be a number, not half"),
        (("--min-free", "-1"), "must be above 0 and at most 4096, not -1"),
        (("--wait", "x"), "must be a whole number, not x"),
        (("--wait", "nan"), "must be a whole number, not nan"),
        (("--profile", "nixl-hma", "--profiles-file", "absent.json"), "absent.json: the profiles cannot be read"),
    ],
)
def test_a_wrong_configuration_ends_at_once_with_2(machine, arguments, words):
    done = machine.guard("check", "--wait", "30", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_no_gpu_refuses_or_passes_as_configured(bare):
    done = bare.guard("check", "--profile", "nixl-hma")
    assert done.returncode == 2
    assert done.stderr.startswith("no GPU is visible here (NVML: no libnvidia-ml.so.1; nvidia-smi is not on PATH; ")
    assert "this step would silently run without one" in done.stderr
    done = bare.guard("check", "--profile", "nixl-hma", "--on-no-gpu", "pass")
    assert done.returncode == 0
    assert done.stderr.endswith("the job runs without one\n")
    assert done.stdout.splitlines() == [*HMA, "export GPU_GUARD_SET_UTILIZATION=0.3"]


def test_a_driver_that_fails_is_worth_another_agent(machine):
    """18: library and kernel module are of different versions, as after an update without a restart."""
    done = machine.guard("check", NVML_STUB_FAILS="18")
    assert done.returncode == 75
    assert "the driver is there and fails; another agent may do" in done.stderr


def test_a_driver_that_is_not_loaded_is_no_gpu(machine):
    machine.state.write_text("")
    assert machine.guard("check").returncode == 2


def test_a_card_that_stops_answering_is_contention(machine):
    done = subprocess.run(
        [sys.executable, "-c", LOST], env=machine.environment, capture_output=True, text=True, check=True
    )
    status, sentences, settings = json.loads(done.stdout)
    assert (status, sentences) == (75, ["the GPU driver gives no reading: the card may be lost"])
    assert settings == {}


LOST = """
import json, os
from gpu_guard import guard
from gpu_guard.memory import open_briefly

def lost(environ):
    meter = open_briefly(environ)
    os.environ["NVML_STUB_FAILS"] = "15"
    import ctypes
    ctypes.CDLL(None).setenv(b"NVML_STUB_FAILS", b"15", 1)
    return meter

found = guard.check(profile=None, utilization=0.3, min_free=None, wait=0, on_contention="refuse",
                    on_no_gpu="refuse", clean_own_leftovers=False, environ=os.environ, open_meter=lost)
print(json.dumps([found.exit_status, found.sentences, dict(found.settings)]))
"""


def test_unlike_cards_whose_order_is_unsure_are_said(machine):
    state = f"gpu GPU-a {22 * GIB} 0 0\nname NVIDIA L4\ngpu GPU-b {80 * GIB} 0 0\nname NVIDIA H100\n"
    machine.state.write_text(state)
    done = machine.guard("check", "--utilization", "0.3", CUDA_VISIBLE_DEVICES="0")
    assert done.returncode == 0
    assert done.stderr.startswith("unlike GPUs: CUDA may count them otherwise than here; CUDA_DEVICE_ORDER=PCI_BUS_ID")
    done = machine.guard("check", CUDA_VISIBLE_DEVICES="0", CUDA_DEVICE_ORDER="PCI_BUS_ID")
    assert "unlike" not in done.stderr


def test_a_table_of_ones_own_travels_with_the_settings(machine, tmp_path):
    file = tmp_path / "mine.json"
    row = {"ceiling": 0.4, "engine": {"dtype": "half float"}, "environment": {"A": "it's"}}
    file.write_text(json.dumps({"schema": "gpu-guard-profiles/1", "profiles": {"mine": row}}))
    done = machine.guard("check", "--profile", "mine", "--profiles-file", str(file))
    assert done.returncode == 0, done.stderr
    shown = subprocess.run(
        ["sh", "-c", f"{done.stdout}\nenv"], env={}, capture_output=True, text=True, check=True
    ).stdout.splitlines()  # fmt: skip
    assert {
        "GPU_GUARD_PROFILE=mine", f"GPU_GUARD_PROFILES={file}", "GPU_GUARD_SET_DTYPE=half float", "A=it's",
        "GPU_GUARD_SET_UTILIZATION=0.4",
    } <= set(shown)  # fmt: skip


def test_it_runs_under_python_3_9(machine):
    machine.python = str(python39())
    done = machine.guard("check", "--profile", "nixl-hma", "--clean-own-leftovers", BUILDKITE_JOB_ID="j")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == HMA[0]
    assert machine.guard("probe", "--json").returncode == 0
    assert machine.guard("budget", "--free", "4.51", "--total", "22.05", "--utilization", "0.47").returncode == 75


@pytest.mark.parametrize(("used", "status", "settings"), [(1, 0, "0.5"), (5, 0, "0.421"), (8, 75, None)])
def test_an_amd_card_is_guarded_alike(tmp_path, used, status, settings):
    card = tmp_path / "class" / "drm" / "card0" / "device"
    card.mkdir(parents=True)
    (card / "mem_info_vram_total").write_text(str(10 * GIB))
    (card / "mem_info_vram_used").write_text(str(round((used + 0.2) * GIB)))
    table = tmp_path / "mine.json"
    row = {"ceiling": 0.5, "floor": 0.2}
    table.write_text(json.dumps({"schema": "gpu-guard-profiles/1", "profiles": {"mine": row}}))
    found = guard.check(
        profile="mine", profiles_file=table, utilization=None, min_free=None, wait=0, on_contention="refuse",
        on_no_gpu="refuse", clean_own_leftovers=False, environ={},
        open_meter=lambda environ: AmdMeter(environ, tmp_path),
    )  # fmt: skip
    assert found.exit_status == status
    assert found.settings.get("GPU_GUARD_SET_UTILIZATION") == settings
    if status:
        assert found.sentences[1] == "cuda:0 is held by processes that the driver does not list here"


def test_the_other_commands(machine, tmp_path):
    done = machine.guard("budget", "--free", "10.93", "--total", "22.05", "--utilization", "0.5")
    assert done.returncode == 75
    assert done.stdout == (
        "the card has 10.93 of 22.05 GiB free; 0.5 asks 11.03 GiB and 0.52 GiB for its context: short by 0.62 GiB; "
        "the highest that fits is 0.469\n"
    )
    done = machine.guard("profiles")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "nixl-hma")
    file = tmp_path / "mine.json"
    file.write_text("{}")
    done = machine.guard("profiles", "--profiles-file", str(file))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    assert machine.guard("probe", CUDA_VISIBLE_DEVICES="").returncode == 2
    assert machine.guard().returncode == 2


def test_who_stops_waiting_gets_no_traceback(machine):
    machine.fill(FULL)
    waiting = machine.begin("check", "--utilization", "0.3", "--wait", "60")
    assert waiting.stderr.readline().startswith("waiting 0 of 60 s")
    waiting.send_signal(signal.SIGINT)
    _, told = waiting.communicate(timeout=30)
    assert waiting.returncode == 130
    assert "Traceback" not in told


def test_the_readme_names_each_command(machine):
    names = re.findall(r"^    ([a-z]+) ", machine.guard("-h").stdout, re.MULTILINE)
    assert names == ["check", "probe", "budget", "profiles"]
    readme = (Path(guard.__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"^By hand, from this folder: (.*?)\n\n", readme, re.MULTILINE | re.DOTALL)
    assert [name for name in names if f"`{name}`" not in sentence and f"gpu_guard {name}`" not in sentence] == []


def test_the_check_imports_little():
    """What costs time at the start of each job: none of the heavy modules, and nothing of the recorder's."""
    program = "import sys, gpu_guard.guard; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], env={"PYTHONPATH": str(guard.__file__).rsplit("/", 2)[0]},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    heavy = {
        "argparse",
        "asyncio",
        "difflib",
        "http",
        "logging",
        "pytest",
        "pynvml",
        "torch",
        "unittest",
        "urllib.request",
    }
    assert not heavy & set(done.stdout.split())
    assert "gpu_guard.recorder" not in done.stdout


def test_reading_is_given_back_even_where_there_is_nothing():
    closed = []

    class Gone(NoMeter):
        def close(self) -> None:
            closed.append(time.monotonic())

    found = guard.check(
        profile=None, utilization=None, min_free=None, wait=0, on_contention="refuse", on_no_gpu="pass",
        clean_own_leftovers=False, environ={}, open_meter=lambda _: Gone("tried nothing"),
    )  # fmt: skip
    assert found.exit_status == 0
    assert closed
