"""Who left GPU memory, told right: sessions on a stub GPU whose every byte is written down."""

from __future__ import annotations

import pytest

MIB = 2**20

LEAK = """
import torch
KEPT = []
MIB = 2**20

def test_before(): pass

def test_innocent_user():
    a = torch.empty(3000, MIB)
    del a

def test_leaks():
    KEPT.append(torch.empty(5000, MIB))
    KEPT.append(torch.empty(200, MIB))

def test_after(): pass

def test_last(): torch.empty(64, MIB)
"""


@pytest.mark.parametrize("name", ["newest", "pytest 7", "python 3.9"])
def test_the_test_that_keeps_tensors_is_named_and_no_other(name, environment, gpu_runner):
    gpu_runner.python = environment(name)
    run = gpu_runner.run(LEAK)
    assert run.code == 0, run.output
    assert list(run.leaks) == ["test_leaks"]
    leak = run.leaks["test_leaks"]
    assert leak["bytes"] == 5200 * MIB
    assert [(tensor["shape"], tensor["bytes"]) for tensor in leak["tensors"]] == [
        ([5000, MIB], 5000 * MIB), ([200, MIB], 200 * MIB)
    ]  # fmt: skip
    assert [tensor["referrer"] for tensor in leak["tensors"]] == ["test_it.KEPT[0]", "test_it.KEPT[1]"]
    held = "test_it.KEPT[0] (4.9 GiB, 5,000×1,048,576 uint8) and others"
    assert f"test_it.py::test_leaks left 5.1 GiB in {held}; the next" in run.output
    # 3,000 MiB of it came out of the cache that the test before had left: the device lost 2,200.
    assert "; the next two tests started with 2.1 GiB less" in run.output


def test_memory_is_told_before_and_after_each_test(gpu_runner):
    run = gpu_runner.run(LEAK)
    (device,) = run.lines[0]["devices"]
    assert device == {"index": 0, "uuid": "GPU-stub-0", "name": "Stub GPU", "total_bytes": (23000 - 400) * MIB}
    (memory,) = run.of("test_leaks")[0]["memory"]
    assert memory["torch_reserved_before"] == 3000 * MIB  # the innocent one's cache
    assert memory["torch_allocated_after"] == 5200 * MIB
    assert memory["used_after"] == 520 * MIB + memory["torch_reserved_after"]
    assert memory["free_after"] == device["total_bytes"] - memory["used_after"]
    assert memory["at_before"] < memory["at_after"]
    (holder,) = run.of("test_leaks")[0]["holders"]
    assert holder == {"pid": run.lines[0]["pid"], "name": holder["name"], "bytes": memory["used_after"]}
    assert "torch_reserved_before" in run.of("test_before")[0]["memory"][0]


FIXTURES = """
import gc, pytest, torch
KEPT = []
MIB = 2**20

@pytest.fixture(scope="module")
def engine():
    held = [torch.empty(6000, MIB)]
    yield held
    held.clear()

@pytest.fixture
def weights(): return torch.empty(1000, MIB)

def test_with_engine(engine): pass

def test_grows_the_engine(engine): engine.append(torch.empty(1500, MIB))

def test_with_weights(weights): assert weights.numel()

def test_leaks_beside_the_engine(engine): KEPT.append(torch.empty(800, MIB))

def test_is_the_last_user(engine): pass
"""


def test_what_a_longer_lived_fixture_holds_is_no_leak(gpu_runner):
    run = gpu_runner.run(FIXTURES)
    assert run.code == 0, run.output
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {"test_leaks_beside_the_engine": 800 * MIB}


def test_a_fixture_that_gives_nothing_back_leaks_where_it_ends(gpu_runner):
    run = gpu_runner.run(FIXTURES.replace("held.clear()", "KEPT.append(held)"))
    found = {name: leak["bytes"] for name, leak in run.leaks.items()}
    assert found == {"test_leaks_beside_the_engine": 800 * MIB, "test_is_the_last_user": 7500 * MIB}


def test_a_fixture_put_to_sleep_in_a_test_is_no_leak_when_it_ends(gpu_runner):
    text = FIXTURES.replace("engine.append(torch.empty(1500, MIB))", "engine.clear()")
    assert list(gpu_runner.run(text).leaks) == ["test_leaks_beside_the_engine"]


def test_each_of_two_leaks_is_named_although_the_second_frees_the_first(gpu_runner):
    text = """
import gc, torch
gc.disable()
MIB = 2**20
class Engine:
    def __init__(self, mib):
        self.me = self
        self.cache = torch.empty(mib, MIB)

def test_first(): Engine(4000)

def test_second():
    gc.collect()
    Engine(4000)

def test_third(): pass
"""
    run = gpu_runner.run(text)
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {
        "test_first": 4000 * MIB,
        "test_second": 4000 * MIB,
    }
    assert run.leaks["test_first"]["tensors"][0]["referrer"] == "Engine.cache"


def test_what_gc_freeze_hides_is_found(gpu_runner):
    text = """
import gc, torch
gc.disable()
class Engine:
    def __init__(self):
        self.me = self
        self.cache = torch.empty(4000, 2**20)
        gc.freeze()

def test_builds_an_engine():
    Engine()
    assert not [item for item in gc.get_objects() if isinstance(item, torch.Tensor)]
"""
    run = gpu_runner.run(text)
    assert run.code == 0, run.output
    (tensor,) = run.leaks["test_builds_an_engine"]["tensors"]
    assert (tensor["shape"], tensor["referrer"]) == ([4000, MIB], "Engine.cache")


def test_cleaning_takes_garbage_and_cache_away_and_leaves_what_lives(gpu_runner):
    text = """
import gc, torch
gc.disable()
KEPT = []
class Engine:
    def __init__(self):
        self.me = self
        self.cache = torch.empty(4000, 2**20)

def test_garbage(): Engine()

def test_keeps(): KEPT.append(Engine())
"""
    run = gpu_runner.run(text, "--gpu-guard-clean")
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {"test_keeps": 4000 * MIB}
    assert run.of("test_garbage")[0]["memory"][0]["torch_reserved_after"] == 0


def test_a_rerun_starts_with_what_the_failed_attempt_left(gpu_runner):
    text = """
import torch
KEPT = []
def test_it():
    KEPT.append(torch.empty(2000, 2**20))
    assert len(KEPT) == 2
"""
    run = gpu_runner.run(text, "--reruns=1", plugins=("rerunfailures",))
    first, second = run.of("test_it")
    assert [line["leak"]["bytes"] for line in (first, second)] == [2000 * MIB] * 2
    assert first["memory"][0]["used_after"] == second["memory"][0]["used_before"]


def test_what_a_failure_keeps_alive_is_named_as_that(gpu_runner):
    text = """
import gc, torch
gc.disable()

def test_fails():
    engine = torch.empty(4000, 2**20)
    assert engine is None

def test_next():
    gc.collect()
    assert torch.cuda.memory_stats_as_nested_dict(0)["allocated_bytes"]["all"]["current"] == 0
"""
    run = gpu_runner.run(text, "--tb=short")
    assert [outcome for _, _, outcome in run.told] == ["failed", "passed"]
    assert run.leaks["test_fails"]["bytes"] == 4000 * MIB
    assert run.leaks["test_fails"]["tensors"][0]["referrer"] == (
        "a local of test_fails, kept by the traceback of its failure"
    )
    assert "leak" not in run.of("test_next")[0]


def test_what_test_files_made_when_they_were_imported_is_no_tests_leak(gpu_runner):
    text = """
import torch
KEPT = [torch.empty(9000, 2**20)]

def test_first(): pass

def test_leaks(): KEPT.append(torch.empty(2000, 2**20))
"""
    run = gpu_runner.run(text)
    assert {name: leak["bytes"] for name, leak in run.leaks.items()} == {"test_leaks": 2000 * MIB}
    assert [tensor["shape"] for tensor in run.leaks["test_leaks"]["tensors"]] == [[2000, MIB]]
