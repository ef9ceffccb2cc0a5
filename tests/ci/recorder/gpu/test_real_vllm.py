"""Engines of real vLLM: left behind they are named, shut down they are not, and too large ones are lowered.

Needs vLLM, and in TINY the folder of a model that loads with dummy weights. A start takes half a minute.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

GIB = 2**30

START = """
import os, subprocess, sys
import pytest, torch
KEPT = {}

def start(utilization):
    from vllm import LLM
    return LLM(
        model=os.environ["TINY"], enforce_eager=True, gpu_memory_utilization=utilization, max_model_len=2048,
        max_num_seqs=1, max_num_batched_tokens=2048, enable_prefix_caching=False, load_format="dummy", dtype="bfloat16",
    )

HOLD = '''
import torch, time
x = torch.empty({gib} * 2**30, dtype=torch.uint8, device="cuda")
print("up", flush=True)
time.sleep(300)
'''

def hold(gib):
    child = subprocess.Popen([sys.executable, "-c", HOLD.format(gib=gib)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "up\\n"
    return child
"""


@pytest.fixture
def vllm(real):
    """Sessions that can start an engine."""
    if importlib.util.find_spec("vllm") is None or not Path(os.environ.get("TINY", "absent")).is_dir():
        pytest.skip("no GPU machine with vLLM and a tiny model in TINY")
    return real


def test_an_engine_left_in_the_process_is_named_and_one_shut_down_is_not(vllm, gpu_bytes):
    text = (
        START
        + """
def test_shuts_down():
    llm = start(0.1)
    llm.llm_engine.engine_core.shutdown()

def test_leaves_its_engine(): start(0.15)

def test_next(): pass
"""
    )
    run = vllm.run(text, "-v", VLLM_ENABLE_V1_MULTIPROCESSING="0")
    sys.stdout.write(run.output)
    assert run.code == 0
    leaks = run.leaks
    assert list(leaks) == ["test_leaves_its_engine"]
    assert leaks["test_leaves_its_engine"]["bytes"] == pytest.approx(
        0.15 * gpu_bytes, rel=0.1
    )  # vLLM keeps a little back
    assert leaks["test_leaves_its_engine"]["tensors"]


def test_an_engine_process_left_behind_is_named(vllm, gpu_bytes):
    text = (
        START
        + """
def test_leaves_its_engine(): KEPT["llm"] = start(0.15)

def test_next(): pass
"""
    )
    run = vllm.run(text, "-v", VLLM_ENABLE_V1_MULTIPROCESSING="1")
    sys.stdout.write(run.output)
    assert run.code == 0
    (line,) = run.of("test_leaves_its_engine")
    assert line["leak"]["bytes"] == pytest.approx(0.15 * gpu_bytes, rel=0.1)
    assert any("EngineCore" in holder["name"] for holder in line["holders"])
    assert "leak" not in run.of("test_next")[0]


@pytest.mark.parametrize("multiprocessing", ["0", "1"])
def test_an_engine_that_asks_too_much_is_lowered_and_starts(multiprocessing, vllm, gpu_bytes):
    text = (
        START
        + f"""
def test_beside_a_holder():
    child = hold({int(gpu_bytes * 0.6 / GIB)})
    try:
        llm = start(0.9)
        assert llm.generate(["hi"])
        llm.llm_engine.engine_core.shutdown()
    finally:
        child.kill()
        child.communicate()
"""
    )
    run = vllm.run(text, "-v", "--gpu-guard-tune", VLLM_ENABLE_V1_MULTIPROCESSING=multiprocessing)
    sys.stdout.write(run.output)
    assert run.code == 0
    tuned = run.of("test_beside_a_holder")[0]["tuned"]
    assert tuned["from"] == 0.9
    assert 0.35 < tuned["to"] < 0.42
