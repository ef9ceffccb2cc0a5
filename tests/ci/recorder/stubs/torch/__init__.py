"""As much of torch as the recorder looks at, with GPU memory that is only numbers in the stub driver's file.

Real torch on a real GPU is used in `gpu/`; this stands in for it where there is none, so that what the recorder
makes of the numbers can be tested everywhere. Freed memory stays in a cache, as in torch's own allocator.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import SimpleNamespace

MIB = 2**20
CONTEXT = 520 * MIB
TOTAL, RESERVED = 23_000 * MIB, 400 * MIB

here = SimpleNamespace(live=0, cached=0, started=False)
"""This process: bytes in tensors, bytes in the cache, and whether it has used the GPU."""

unlisted = False
children: dict[int, int] = {}
strangers: dict[int, int] = {1: 0}


def publish() -> None:
    """Write what the driver would list now."""
    lines = [f"gpu GPU-stub-0 {TOTAL} {RESERVED} 0"]
    if here.started:
        lines.append(f"process {os.getpid()} {CONTEXT + here.live + here.cached}")
    lines += [f"process {pid} {size}" for pid, size in {**children, **strangers}.items() if size]
    if unlisted:
        total = sum(int(line.split()[2]) for line in lines[1:])
        lines[1:] = [f"unlisted {total}", "nolist"]
    draft = Path(os.environ["NVML_STUB_STATE"] + ".draft")
    draft.write_text("\n".join(lines) + "\n")
    draft.replace(os.environ["NVML_STUB_STATE"])


class _Storage:
    def __init__(self, size: int) -> None:
        self.size = size
        here.started = True
        here.cached = max(0, here.cached - size)
        here.live += size
        publish()

    def __del__(self) -> None:
        here.live -= self.size
        here.cached += self.size
        publish()

    def nbytes(self) -> int:
        return self.size

    def data_ptr(self) -> int:
        return id(self)


class Tensor:
    """A tensor of bytes on device 0."""

    dtype = "torch.uint8"
    device = SimpleNamespace(type="cuda", index=0)

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self._storage = _Storage(math.prod(shape))

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> int:
        return 1

    def untyped_storage(self) -> _Storage:
        return self._storage


def empty(*shape: int) -> Tensor:
    return Tensor(*shape)


def _empty_cache() -> None:
    here.cached = 0
    publish()


def _stats(device: int) -> dict[str, dict[str, dict[str, int]]]:
    assert device == 0
    counted = {"allocated_bytes": here.live, "reserved_bytes": here.live + here.cached}
    return {name: {"all": {"current": size}} for name, size in counted.items()}


cuda = SimpleNamespace(
    is_initialized=lambda: here.started,
    device_count=lambda: 1,
    empty_cache=_empty_cache,
    memory_stats_as_nested_dict=_stats,
)
