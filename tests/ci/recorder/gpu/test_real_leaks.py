"""A scripted leak on a real GPU is named, its size right within 5 %; a test that only used the GPU is not."""

from __future__ import annotations

import sys

import pytest

GIB = 2**30

SCRIPT = """
import gc, subprocess, sys, time
import pytest
import torch

KEPT = {}

def gib(size): return torch.empty(int(size * 2**30) // 2, dtype=torch.bfloat16, device="cuda")

def test_on_the_cpu(): assert torch.ones(3).sum() == 3

def test_innocent():
    a = gib(3)
    b = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    assert (b @ b).isfinite().all()
    del a

@pytest.fixture(scope="module")
def engine():
    held = [gib(4)]
    yield held
    held.clear()

def test_uses_a_module_fixture(engine): assert engine[0].numel()

def test_leaks_a_tensor(): KEPT["cache"] = gib(10.9)

def test_after_the_leak(): assert torch.zeros(10, device="cuda").sum() == 0

class Engine:
    def __init__(self):
        self.me = self
        self.kv_cache = gib(6)
        gc.freeze()

def test_leaks_frozen_garbage(): Engine()

CHILD = '''
import torch, time
x = torch.empty(8 * 2**30, dtype=torch.uint8, device="cuda")
print("up", flush=True)
time.sleep(120)
'''

def test_leaves_a_process():
    KEPT["child"] = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    assert KEPT["child"].stdout.readline() == "up\\n"

def test_ends_a_process():
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "up\\n"
    child.terminate()

def test_last(engine):
    KEPT["child"].kill()
    KEPT["child"].communicate()
"""

EXPECTED = {
    "test_leaks_a_tensor": 10.9 * GIB,
    "test_leaks_frozen_garbage": 6 * GIB,
    "test_leaves_a_process": (8 + 0.52) * GIB,  # with the context that every process on the GPU has
}


def test_leaks_are_named_right_and_innocents_are_not(real):
    run = real.run(SCRIPT, "-v")
    sys.stdout.write(run.output)
    assert run.code == 0
    found = run.leaks
    assert set(found) == set(EXPECTED)
    for name, expected in EXPECTED.items():
        assert found[name]["bytes"] == pytest.approx(expected, rel=0.05), name
    (tensor, *_) = found["test_leaks_a_tensor"]["tensors"]
    assert tensor["dtype"] == "torch.bfloat16"
    assert tensor["shape"] == [int(10.9 * GIB) // 2]
    assert tensor["referrer"] == "test_it.KEPT['cache']"
    assert found["test_leaks_frozen_garbage"]["tensors"][0]["referrer"] == "Engine.kv_cache"
    assert not found["test_leaves_a_process"]["tensors"]
    assert "test_leaks_a_tensor left 10.9 GiB" in run.output
    assert "the next " in run.output


def test_what_is_read_is_what_torch_and_the_driver_say(real, gpu_bytes):
    text = """
import torch
def test_it():
    free, total = torch.cuda.mem_get_info()
    print("total", total)
    x = torch.empty(2 * 2**30, dtype=torch.uint8, device="cuda")
    print("free", torch.cuda.mem_get_info()[0])
"""
    run = real.run(text, "-s")
    total = int(run.output.partition("total ")[2].split()[0])
    assert run.lines[0]["devices"][0]["total_bytes"] == pytest.approx(total, rel=0.001)
    assert gpu_bytes == total
    (memory, *_) = run.attempts[0]["memory"]
    assert memory["torch_reserved_after"] >= 2 * GIB
    assert memory["torch_allocated_after"] == 0
    assert memory["used_after"] - memory["used_before"] >= 2 * GIB
    assert any(holder["pid"] == run.lines[0]["pid"] for holder in run.attempts[0]["holders"])


def test_cleaning_gives_the_cache_back(real):
    run = real.run(SCRIPT, "-k", "innocent or leaks_a_tensor", "--gpu-guard-clean")
    assert list(run.leaks) == ["test_leaks_a_tensor"]
    (memory, *_) = run.of("test_innocent")[0]["memory"]
    assert memory["torch_reserved_after"] < 0.2 * GIB
