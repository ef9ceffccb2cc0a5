"""Memory that other processes hold: children that stay, strangers, workers, forked tests, drivers that list nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

STUBS = Path(__file__).parent / "stubs"
PLUGIN = STUBS.parents[3] / "ci" / "gpu-guard-buildkite-plugin"
MIB = 2**20

LEAK = """
import torch
KEPT = []
def test_before(): pass
def test_leaks(): KEPT.append(torch.empty(5200, 2**20))
def test_last(): pass
"""


def test_memory_of_others_is_nobodys_leak(gpu_runner):
    text = """
import torch
def test_beside_a_newcomer():
    torch.strangers[1] = 9000 * 2**20
    torch.publish()
"""
    run = gpu_runner.run(text)
    assert not run.leaks
    assert run.of("test_beside_a_newcomer")[0]["holders"][0]["pid"] == 1


def test_a_child_that_stays_is_the_leak_of_the_test_that_started_it(gpu_runner):
    text = """
import os, subprocess, sys, torch
STARTED = []

def test_leaves_an_engine():
    shell = subprocess.Popen(["sh", "-c", "sleep 30 & echo $!"], stdout=subprocess.PIPE, text=True)
    STARTED.append(int(shell.stdout.readline()))   # an orphan by now
    shell.wait()
    torch.children[STARTED[0]] = 7000 * 2**20
    torch.publish()

def test_next(): pass

def test_ends_it():
    os.kill(STARTED[0], 9)
    torch.children.clear()
    torch.publish()
"""
    run = gpu_runner.run(text)
    assert run.code == 0, run.output
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {"test_leaves_an_engine": 7000 * MIB}
    assert "test_leaves_an_engine left 6.8 GiB in sleep (pid" in run.output


def test_memory_that_comes_back_in_a_moment_is_no_leak(gpu_runner):
    text = """
import subprocess, threading, torch

def test_stops_its_engine():
    child = subprocess.Popen(["sleep", "30"])
    torch.children[child.pid] = 7000 * 2**20
    torch.publish()
    def end():
        child.kill()
        child.wait()
        torch.children.clear()
        torch.publish()
    threading.Timer(1.0, end).start()

def test_next(): pass
"""
    run = gpu_runner.run(text)
    assert not run.leaks
    assert run.of("test_stops_its_engine")[0]["memory"][0]["used_after"] == 0


def test_where_the_driver_lists_no_process_growth_beyond_torch_counts(gpu_runner):
    text = """
import os, torch
from pathlib import Path

def hold(mib):
    lines = [f"gpu GPU-stub-0 {torch.TOTAL} {torch.RESERVED} 0", f"unlisted {mib * 2**20}", "nolist", ""]
    Path(os.environ["NVML_STUB_STATE"]).write_text("\\n".join(lines))

hold(100)
def test_small(): hold(150)
def test_large(): hold(4150)
def test_after(): pass
"""
    run = gpu_runner.run(text)
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {"test_large": 4000 * MIB}
    assert all("holders" not in line or line["holders"] == [] for line in run.attempts)


@pytest.mark.parametrize("workers", ["-n1", "-n2"])
def test_workers_send_memory_and_leaks(workers, gpu_runner):
    run = gpu_runner.run(LEAK, workers, "--dist=loadfile", plugins=("xdist",))
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {"test_leaks": 5200 * MIB}
    assert all("free_after" in line["memory"][0] for line in run.attempts)
    assert run.lines[0]["devices"]


def test_the_last_test_of_a_dead_worker_keeps_what_was_measured_before(gpu_runner):
    run = gpu_runner.run(LEAK + "\nimport os\ndef test_zz(): os._exit(3)\n", "-n1", plugins=("xdist",))
    (crash,) = run.of("test_zz")
    assert crash["outcome"] == "crashed"
    assert crash["memory"][0]["torch_reserved_before"] >= 5200 * MIB
    assert "free_after" not in crash["memory"][0]
    assert [line["outcome"] for line in run.of("test_last")] == ["passed"]


def test_an_attempt_that_waits_for_its_last_sample_is_not_lost_with_its_worker(gpu_runner):
    text = "import os, torch\ndef test_before(): pass\ndef test_dies(): os._exit(3)\n"
    run = gpu_runner.run(text, "-n1", "--reruns=1", "--max-worker-restart=0", plugins=("xdist", "rerunfailures"))
    assert [line["outcome"] for line in run.of("test_before")] == ["passed"]
    assert run.of("test_dies")[0]["outcome"] == "crashed"


def test_forked_tests_are_measured_from_outside(gpu_runner, environment):
    gpu_runner.python = environment("pytest 8")
    text = """
import subprocess, torch
def test_leaves_an_engine():
    child = subprocess.Popen(["sleep", "5"], stdout=subprocess.DEVNULL)
    torch.children[child.pid] = 7000 * 2**20
    torch.publish()

def test_next(): pass
"""
    run = gpu_runner.run(text, "--forked", plugins=("forked",))
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {"test_leaves_an_engine": 7000 * MIB}
    assert run.of("test_next")[0]["memory"][0]["used_before"] == 7000 * MIB


SMI = """#!/bin/sh
# The stub driver's state in the words of nvidia-smi.
case "$*" in
*compute-apps*)
  awk '/^process/ { printf "GPU-stub-0, %d, %d, some/program\\n", $2, $3 / 1048576 }' "$NVML_STUB_STATE"
  exit 0 ;;
esac
while :; do
  awk '/^gpu/ { total = $3; reserved = $4 } /^process/ { used += $3 }
    END { printf "0, GPU-stub-0, Stub, %d, %d, %d, %d\\n", total / 1048576, used / 1048576,
          (total - reserved - used) / 1048576, reserved / 1048576 }' "$NVML_STUB_STATE"
  sleep 0.05
done
"""


@pytest.fixture
def smi_runner(runner, environment, tmp_path):
    """Sessions on a machine with nvidia-smi, whose driver's library cannot be loaded."""
    runner.python = environment("pytest 8")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "nvidia-smi").write_text(SMI)
    (folder / "nvidia-smi").chmod(0o755)
    (folder / "libnvidia-ml.so.1").write_text("no library")
    (tmp_path / "gpu-state").write_text("gpu GPU-stub-0 24117248000 419430400 0\n")
    runner.extra_env = {
        "PATH": f"{folder}:{os.environ['PATH']}", "NVML_STUB_STATE": str(tmp_path / "gpu-state"),
        "CUDA_VISIBLE_DEVICES": "0", "PYTHONPATH": f"{PLUGIN}:{STUBS}", "LD_LIBRARY_PATH": str(folder),
    }  # fmt: skip
    return runner


def test_a_kept_nvidia_smi_names_leaks_and_never_the_test_after(smi_runner):
    """Its figures are up to 0.2 s old: a quick test's may still show what was before it."""
    text = """
import os, subprocess, time, torch
KEPT = []

def test_quick(): torch.strangers[1] = 100 * 2**20

def test_leaks_tensors(): KEPT.append(torch.empty(5000, 2**20))

def test_quick_too(): pass

def test_slow(): time.sleep(0.5)

def test_leaves_a_process():
    time.sleep(0.5)
    KEPT.append(subprocess.Popen(["sleep", "30"]))
    torch.children[KEPT[-1].pid] = 7000 * 2**20
    torch.publish()
    time.sleep(0.5)

def test_quick_after_it(): pass

def test_leaves_one_in_a_hurry():
    KEPT.append(subprocess.Popen(["sleep", "30"]))
    torch.children[KEPT[-1].pid] = 1000 * 2**20
    torch.publish()

def test_quick_at_last(): pass

def test_ends_them():
    for child in KEPT[1:]: child.kill(); child.wait()
"""
    run = smi_runner.run(text)
    assert run.code == 0, run.output
    found = {name: leak["bytes"] for name, leak in run.leaks.items()}
    assert found.pop("test_leaves_one_in_a_hurry", 1000 * MIB) == 1000 * MIB  # may go unseen
    assert found == {"test_leaks_tensors": 5000 * MIB, "test_leaves_a_process": 7000 * MIB}
    assert "GPU memory: nvidia-smi" in run.output
    assert run.lines[0]["devices"] == [{"index": 0, "uuid": "GPU-stub-0", "name": "Stub", "total_bytes": 22600 * MIB}]


def test_a_module_fixture_that_starts_a_process_is_no_leak(gpu_runner):
    text = """
import subprocess, pytest, torch

@pytest.fixture(scope="module")
def server():
    child = subprocess.Popen(["sleep", "30"])
    torch.children[child.pid] = 7000 * 2**20
    torch.publish()
    yield child
    child.kill()
    child.wait()
    torch.children.clear()
    torch.publish()

def test_first(server): pass

def test_makes_the_server_grow(server):
    torch.children[server.pid] += 3000 * 2**20
    torch.publish()

def test_last(server): pass

def test_after(): pass
"""
    run = gpu_runner.run(text)
    assert run.code == 0, run.output
    assert not run.leaks


def test_a_module_fixture_is_no_leak_either_where_no_process_is_listed(gpu_runner):
    text = """
import pytest, torch
torch.unlisted = True

@pytest.fixture(scope="module")
def server():
    torch.strangers[7] = 7000 * 2**20
    torch.publish()
    yield
    torch.strangers.clear()
    torch.publish()

def test_first(server): pass

def test_last(server): pass

def test_after(): pass
"""
    run = gpu_runner.run(text)
    assert run.code == 0, run.output
    assert run.of("test_first")[0]["memory"][0]["used_after"] == 7000 * MIB
    assert not run.leaks
