"""What a test's process and its children hold of a device, and how that grew. Pure arithmetic on readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gpu_guard.memory import DeviceReading

from .torchstate import Counters

FLOOR = 128 * 2**20
"""Growth below this is nobody's leak: cuBLAS workspaces, kernels loaded at first use, rounding of the driver."""

CONTEXT = 2**30
"""What a first use of CUDA may leave in a process: 0.52 GiB of context were measured on an H200, 0.77 with NCCL."""


class Held(NamedTuple):
    """Bytes on one device.

    `live` is in torch's live tensors, its cache not counted: the next engine in this process empties it. `other` is
    what the driver lists for this process beyond torch's cache. `children` are bytes by pid. `rest` is all that is
    used beyond torch's, where the driver lists no process; then `other` and `children` are empty. `present`: this
    process uses CUDA on the device.
    """

    live: int
    other: int
    children: Mapping[int, int]
    rest: int
    present: bool


class Growth(NamedTuple):
    """Growth of each part on one device; only parts of at least FLOOR count."""

    live: int
    other: int
    children: Mapping[int, int]
    rest: int

    @property
    def total(self) -> int:
        """Bytes that are kept."""
        return sum(part for part in (self.live, self.other, *self.children.values(), self.rest) if part >= FLOOR)


def held(device: DeviceReading, torch: Counters | None, pid: int, owns: Callable[[int], bool]) -> Held:
    """What one reading says of this process (`pid`) and of those that it started (`owns`)."""
    live, reserved = torch or (0, 0)
    if device.holders is None:
        return Held(live, 0, {}, max(0, device.used - reserved), reserved > 0)
    sizes = {holder.pid: holder.size or 0 for holder in device.holders}
    children = {child: size for child, size in sizes.items() if owns(child)}
    return Held(live, max(0, sizes.get(pid, 0) - reserved), children, 0, pid in sizes)


def growth(before: Held, after: Held) -> Growth:
    """How much more is held; the first use of CUDA in between is allowed what it costs."""
    allowance = CONTEXT if after.present and not before.present else 0
    children = {pid: size - before.children.get(pid, 0) for pid, size in after.children.items()}
    return Growth(
        after.live - before.live,
        max(0, after.other - before.other - allowance),
        {pid: size for pid, size in children.items() if size > 0},
        max(0, after.rest - before.rest - allowance),
    )
