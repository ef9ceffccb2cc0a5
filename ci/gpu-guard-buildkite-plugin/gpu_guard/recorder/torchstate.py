"""Torch's own count of this process's GPU memory, without importing torch or waking the GPU."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple


class Counters(NamedTuple):
    """Bytes of one device: in live tensors, and kept by torch's cache allocator in all."""

    allocated: int
    reserved: int


def loaded() -> Any | None:
    """The torch module if this process has imported it, whole."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "cuda") and hasattr(torch, "Tensor") else None


def cuda_started() -> bool:
    """Whether this process has a CUDA (or ROCm) context of torch's making."""
    torch = loaded()
    return torch is not None and bool(torch.cuda.is_initialized())


def counters(devices: int) -> tuple[Counters, ...] | None:
    """The counters of the first `devices` devices; None without torch, or where its allocator keeps no count."""
    torch = loaded()
    if torch is None:
        return None
    if not torch.cuda.is_initialized():
        return (Counters(0, 0),) * devices
    known = min(devices, torch.cuda.device_count())
    try:
        found = [_of(torch.cuda.memory_stats_as_nested_dict(index)) for index in range(known)]
    except RuntimeError:  # an allocator plugged in from outside
        return None
    return (*found, *(Counters(0, 0),) * (devices - known))


def _of(stats: dict[str, Any]) -> Counters:
    def current(name: str) -> int:
        return int(stats.get(name, {}).get("all", {}).get("current", 0))

    return Counters(current("allocated_bytes"), current("reserved_bytes"))
