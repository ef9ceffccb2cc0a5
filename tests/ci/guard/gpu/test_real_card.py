"""The guard on a real NVIDIA card, against CUDA. Without one these skip; GPU_TESTS=require makes that a failure."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpu_guard.memory import open_briefly

PLUGIN = Path(__file__).resolve().parents[4] / "ci" / "gpu-guard-buildkite-plugin"
GIB = 2**30

DEVICES = """
import ctypes, json
cuda = ctypes.CDLL("libcuda.so.1")
count, found = ctypes.c_int(), []
if cuda.cuInit(0) == 0:
    cuda.cuDeviceGetCount(ctypes.byref(count))
for place in range(count.value):
    device, uuid = ctypes.c_int(), (ctypes.c_ubyte * 16)()
    cuda.cuDeviceGet(ctypes.byref(device), place)
    cuda.cuDeviceGetUuid_v2(uuid, device)
    found.append(bytes(uuid).hex())
print(json.dumps(found))
"""

HOLD = """
import sys, torch
kept = torch.empty(int(sys.argv[1]) * 2**30, dtype=torch.uint8, device="cuda")
print(*torch.cuda.mem_get_info(), flush=True)
sys.stdin.readline()
"""


def run(program: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=os.environ | env, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def card() -> str:
    """The uuid of the first card, as CUDA says it: hexadecimal digits."""
    asked = run(DEVICES)
    found = json.loads(asked.stdout) if asked.returncode == 0 else []
    if not found:
        if os.environ.get("GPU_TESTS") == "require":
            pytest.fail(f"no GPU that CUDA can use: {asked.stderr.strip()[-300:]}")
        pytest.skip("no GPU that CUDA can use")
    return found[0]


def seen(**env: str) -> list[str]:
    meter = open_briefly({**os.environ, **env})
    try:
        return [device.uuid.removeprefix("GPU-").replace("-", "") for device in meter.devices]
    finally:
        meter.close()


CHOICES = [
    "", "0", "1", "0,0", "-1", "0,-1", "0,9", ",0", " 0 ", "0gpu", "0x1", "+0", "00", "a", "GPU-", "{uuid}", "{short}",
    "{upper}", "{uuid},0", "0,{uuid}", "{short},{uuid}", "{bare}", "none", "all", "void", "NoDevFiles", "MIG-x",
]  # fmt: skip


@pytest.mark.parametrize("choice", CHOICES)
def test_the_devices_are_those_that_cuda_shows(card, choice):
    uuid = "-".join(["GPU", card[:8], card[8:12], card[12:16], card[16:20], card[20:]])
    text = choice.format(uuid=uuid, short=uuid[:10], upper=uuid.upper(), bare=uuid[4:])
    assert seen(CUDA_VISIBLE_DEVICES=text) == json.loads(run(DEVICES, CUDA_VISIBLE_DEVICES=text).stdout)


@contextmanager
def holder(gib: int) -> Iterator[tuple[int, int, int, Callable[[], None]]]:
    """A process that holds memory: its pid, what torch then says is free and there, and how to let go."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(gib)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        free, total = map(int, child.stdout.readline().split())
        yield child.pid, free, total, child.stdin.close
    finally:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            stream.close()


def guard(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpu_guard", *arguments], env={**os.environ, "PYTHONPATH": str(PLUGIN)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.usefixtures("card")
def test_what_is_free_is_what_torch_says_and_the_holder_is_named():
    pytest.importorskip("torch", reason="no GPU that torch can use")
    with holder(4) as (pid, free, total, _):
        (device, *_) = json.loads(guard("probe", "--json").stdout)["devices"]
        assert (device["free"], device["total"]) == (free, total)
        sizes = {one["pid"]: one["size"] for one in device["holders"]}
        assert 4 * GIB <= sizes[pid] < 6 * GIB


@pytest.mark.usefixtures("card")
def test_a_full_card_is_contention_until_its_holder_ends():
    pytest.importorskip("torch", reason="no GPU that torch can use")
    with holder(4) as (pid, free, total, let_go):
        share = repr(free / total)  # fits without the context, and with it no longer
        done = guard("check", "--utilization", share)
        assert done.returncode == 75, done.stderr
        assert re.search(rf"held by .*pid {pid} ", done.stderr)
        waiting = subprocess.Popen(
            [sys.executable, "-m", "gpu_guard", "check", "--utilization", share, "--wait", "60"],
            env={**os.environ, "PYTHONPATH": str(PLUGIN)}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(2)
        let_go()
        _, told = waiting.communicate(timeout=70)
        assert waiting.returncode == 0, told
