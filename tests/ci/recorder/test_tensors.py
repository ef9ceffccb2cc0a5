"""Tensors of real torch, on the CPU: found, counted once, and said who holds them."""

from __future__ import annotations

import pytest

COMMON = """
import gc
import torch
from gpu_guard.recorder.reach import reachable
from gpu_guard.recorder.tensors import FrozenTensors, by_storage, listed, live, size_of

KEPT = {"weights": torch.zeros(1000, 1000)}

def found():
    return by_storage(live("cpu"))
"""

CASES = {
    "a module's variable": """
(first, *_) = listed(found(), {})
assert (first.shape, first.dtype, first.size) == ([1000, 1000], "torch.float32", 4_000_000), first
assert first.referrer == "test_it.KEPT['weights']", first
""",
    "views of one storage are one": """
rows = [KEPT["weights"][n] for n in range(5)]
assert sum(size_of(tensor) for tensor in found()) == 4_000_000
assert len(found()) == 1
""",
    "a view that is all there is stands for its storage": """
view = torch.empty(0).set_(torch.zeros(2000, 1000).storage(), 0, (3, 1000))
(first, *_) = listed(found(), {})
assert (first.shape, first.size) == ([3, 1000], 8_000_000)
""",
    "a module's parameter": """
layer = torch.nn.Linear(3000, 1000)
(first, *_) = listed(found(), {})
assert first.shape == [1000, 3000]
assert first.referrer.endswith("Linear._parameters['weight']"), first.referrer
""",
    "an attribute, a list, a closure": """
class Engine:
    def __init__(self): self.caches = [torch.zeros(2000, 1000), torch.zeros(1500, 1000)]
KEPT["engine"] = Engine()
def close(tensor): return lambda: tensor
KEPT["closed"] = close(torch.zeros(1200, 1000))
told = {tuple(one.shape): one.referrer for one in listed(found(), {})}
assert told[2000, 1000] == "test_it.KEPT['engine'] → Engine.caches[0]", told
assert told[1500, 1000] == "test_it.KEPT['engine'] → Engine.caches[1]", told
assert told[1200, 1000].startswith("test_it.KEPT['closed'] → "), told
assert told[1200, 1000].endswith(" → a closure"), told
del KEPT["engine"], KEPT["closed"]
""",
    "what gc.freeze hides, garbage too": """
class Engine:
    def __init__(self):
        self.me = self
        self.cache = torch.zeros(2000, 1000)
frozen = FrozenTensors("cpu")
gc.disable()
frozen.install()
try:
    Engine()
    gc.freeze()
finally:
    frozen.uninstall()
assert gc.freeze.__module__ == "gc"
assert found() == []
told = {tuple(tensor.shape): referrer for tensor, referrer in frozen.alive()}
assert told == {(2000, 1000): "Engine.cache", (1000, 1000): "test_it.KEPT['weights']"}, told
gc.unfreeze()
gc.collect()
gc.enable()
assert [tuple(tensor.shape) for tensor, _ in frozen.alive()] == [(1000, 1000)]
""",
    "stand-ins without memory are none": """
from torch._subclasses.fake_tensor import FakeTensorMode
stand_ins = [torch.empty(9000, 1000, device="meta")]
with FakeTensorMode():
    stand_ins.append(torch.empty(9000, 1000))
assert [tuple(tensor.shape) for tensor in found()] == [(1000, 1000)]
""",
    "what hangs on a model, through walls of modules and classes": """
model = torch.nn.Sequential(torch.nn.Linear(10, 10), torch.nn.Linear(10, 10))
model.also = lambda: KEPT
below = {id(tensor) for tensor in reachable([model], torch.Tensor)}
assert {id(parameter) for parameter in model.parameters()} <= below
assert id(KEPT["weights"]) not in below
gc.freeze()
assert {id(tensor) for tensor in reachable([model], torch.Tensor)} == below
gc.unfreeze()
""",
    "naming a tensor keeps nothing alive": """
import weakref
tensor = torch.zeros(2000, 1000)
listed(found(), {})
gone = weakref.ref(tensor)
del tensor
assert gone() is None
""",
    "no GPU means no bytes": """
from gpu_guard.recorder import torchstate
assert torchstate.loaded() is torch
assert torchstate.counters(2) == ((0, 0), (0, 0))
""",
}


@pytest.mark.parametrize("case", CASES)
def test_tensors(case, torch_python, runner_of):
    body = "".join(f"    {line}\n" for line in CASES[case].strip().splitlines())
    run = runner_of(torch_python).run(f"{COMMON}\ndef test_it():\n{body}", "-p", "no:cacheprovider")
    assert run.code == 0, run.output
    assert run.told == [("test_it", 0, "passed")]
