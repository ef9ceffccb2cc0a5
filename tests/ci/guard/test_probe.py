"""What is seen of the cards: by the driver's library, from the kernel; and what is said of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from gpu_guard.memory import Device, DeviceReading, Holder, Reading, process
from gpu_guard.memory.host import host_memory
from gpu_guard.probe import Snapshot, holders_sentence, unlisted

GIB = 2**30
MIB = 2**20

BINDINGS = """
import json, pynvml as n
n.nvmlInit()
found = []
for i in range(n.nvmlDeviceGetCount()):
    h = n.nvmlDeviceGetHandleByIndex(i)
    m = n.nvmlDeviceGetMemoryInfo(h, version=n.nvmlMemory_v2)
    listed = [[p.pid, p.usedGpuMemory] for p in n.nvmlDeviceGetComputeRunningProcesses(h)]
    found.append([n.nvmlDeviceGetUUID(h), n.nvmlDeviceGetName(h), m.total, m.reserved, m.free, m.used, listed])
print(json.dumps(found))
"""

OURS = """
import json
from gpu_guard.memory.library import Library
l = Library()
found = []
for i in range(l.count()):
    h = l.device(i)
    found.append([l.uuid(h), l.name(h), *l.memory(h), [list(p) for p in l.processes(h)]])
print(json.dumps(found))
"""

MANY = "".join(f"process {pid} {pid * MIB}\n" for pid in range(100, 116))


@pytest.mark.parametrize(
    "state",
    [
        f"gpu GPU-a {22 * GIB} {GIB} 0\n",
        f"gpu GPU-a {22 * GIB} {GIB} 0\nprocess 7 {3 * GIB}\nunlisted {GIB}\ngpu GPU-b {80 * GIB} 0 0\n{MANY}",
        f"gpu GPU-a {22 * GIB} 0 0\nprocess 7 {2**64 - 1}\n",
    ],
    ids=["an idle card", "two cards, one with many processes", "a size that the driver hides"],
)
def test_the_library_answers_as_through_nvidias_own_bindings(machine, state):
    machine.state.write_text(state)

    def ask(program):
        done = subprocess.run(
            [sys.executable, "-c", program], env=machine.environment, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    assert ask(OURS) == ask(BINDINGS)


def test_who_holds_memory_is_named(machine):
    machine.fill(f"process {os.getpid()} {3 * GIB}", f"unlisted {2 * GIB}")
    done = machine.guard("probe")
    assert done.returncode == 0, done.stderr
    card, who = done.stdout.splitlines()
    assert card == "cuda:0 Stub GPU GPU-stub-0: 17.00 of 22.00 GiB free, 5.00 used"
    assert who.startswith(f"  held by pid {os.getpid()} ")
    assert who.endswith(
        "(3.00 GiB), 2.00 GiB by what this machine does not list: a process outside this container"
    )  # fmt: skip
    data = json.loads(machine.guard("probe", "--json").stdout)
    (device,) = data["devices"]
    assert (device["free"], device["used"], device["unlisted"]) == (17 * GIB, 5 * GIB, 2 * GIB)
    assert device["holders"][0]["pid"] == os.getpid()


@pytest.mark.parametrize("text", ["", "-1", "9"])
def test_a_choice_that_leaves_no_gpu_is_said_with_its_name(machine, text):
    done = machine.guard("check", CUDA_VISIBLE_DEVICES=text)
    assert done.returncode == 2
    assert f"nvml sees 1, of which CUDA_VISIBLE_DEVICES={text!r} leaves none" in done.stderr


def test_a_card_without_memory_of_its_own_has_the_machines(machine):
    """As on a DGX Spark: the driver answers `Not Supported`, and CUDA counts what the machine has."""
    done = machine.guard("probe", "--json", NVML_STUB_SHARED="1")
    assert done.returncode == 0, done.stderr
    (device,) = json.loads(done.stdout)["devices"]
    here = host_memory()
    assert device["total"] == here.total
    assert abs(device["free"] - here.available) < GIB


def test_a_kernel_that_says_nothing_of_memory_is_no_source(tmp_path):
    assert host_memory(tmp_path / "absent") is None
    (tmp_path / "meminfo").write_text("MemTotal: 1000 kB\n")
    assert host_memory(tmp_path / "meminfo") is None


def reading(used: float, holders, total: float = 20.0) -> DeviceReading:
    return DeviceReading(round((total - used) * GIB), round(total * GIB), round(used * GIB), holders)


@pytest.mark.parametrize(
    ("used", "holders", "outside"),
    [
        (4739 / 1024, (Holder(1, "python3", 1542 * MIB),), 3197 * MIB),
        (615 / 1024, (), 0),
        (529 / 1024, (Holder(1, "python3", 520 * MIB),), 0),
        (5.0, (Holder(1, "python3", None),), 0),
        (5.0, None, 0),
        (5.0, (), 5 * GIB),
    ],
    ids=[
        "seen from inside a container, on an H200", "an idle H200 under an older driver", "one context on an H200",
        "a size that is hidden proves nothing", "no list proves nothing", "all of it",
    ],
)  # fmt: skip
def test_memory_that_no_listed_process_holds_is_anothers(used, holders, outside):
    assert unlisted(reading(used, holders)) == outside


def test_many_holders_are_named_by_size_and_then_counted():
    holders = tuple(Holder(pid, f"p{pid}", pid * GIB) for pid in range(1, 9))
    sentence = holders_sentence(reading(36, holders, total=80))
    assert sentence.startswith("held by pid 8 p8 (8.00 GiB), pid 7 p7 (7.00 GiB)")
    assert sentence.endswith("pid 3 p3 (3.00 GiB), 2 more")


def test_an_empty_card_is_held_by_nobody():
    assert holders_sentence(reading(0, ())) == ""
    assert holders_sentence(reading(3, None)) == "held by processes that the driver does not list here"


def test_a_snapshot_travels_as_json():
    snapshot = Snapshot("nvml", (Device(0, "GPU-a", "L4", 20 * GIB),), Reading(1.5, (reading(1, None),)))
    data = json.loads(json.dumps(snapshot.as_data()))
    assert data["at"] == 1.5
    assert data["devices"][0]["holders"] is None


def test_a_title_of_any_text_stays_in_its_line(machine):
    title = b"evil\n^^^ +++\n\x1b[31m\xff" + b"x" * 1000
    holder = subprocess.Popen([title, "30"], executable="/bin/sleep")
    try:
        machine.fill(f"process {holder.pid} {3 * GIB}")
        done = machine.guard("probe")
    finally:
        holder.kill()
        holder.wait()
    assert done.stdout.splitlines()[1:] == [f"  held by pid {holder.pid} evil?^^^ +++??[31m\ufffd{'x' * 81} (3.00 GiB)"]


def test_without_the_kernels_files_there_are_no_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_PROC", tmp_path / "absent")
    assert process.every_pid() == []
    assert process.name_of(os.getpid()) == ""
