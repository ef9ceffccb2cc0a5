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

    `live` is in torch's live tensors; its cache does not count, the next engine in this process empties it. `beyond`
    is all that is used, by anybody, beyond what torch of this process has reserved. Where the driver's list of
    processes can be used (`listed`), `other` is this process's part of that and `children` are those it started,
    by pid. `present`: this process uses CUDA on the device.
    """

    live: int
    beyond: int
    other: int
    children: Mapping[int, int]
    listed: bool
    present: bool


class Growth(NamedTuple):
    """Growth of each part on one device; `rest` is what no list could attribute. Only parts of at least FLOOR count."""

    live: int
    other: int
    children: Mapping[int, int]
    rest: int

    @property
    def total(self) -> int:
        """Bytes that are kept."""
        return sum(part for part in (self.live, self.other, *self.children.values(), self.rest) if part >= FLOOR)


class Amount(NamedTuple):
    """Bytes of the parts that cannot be told apart by process; children are."""

    live: int = 0
    other: int = 0
    rest: int = 0

    def plus(self, more: Amount) -> Amount:
        """Both together."""
        return Amount(self.live + more.live, self.other + more.other, self.rest + more.rest)

    def minus(self, less: Amount) -> Amount:
        """What is left; never below nothing."""
        return Amount(*(max(0, have - away) for have, away in zip(self, less)))


def held(device: DeviceReading, torch: Counters | None, pid: int, owns: Callable[[int], bool]) -> Held:
    """What one reading says of this process (`pid`) and of those that it started (`owns`)."""
    live, reserved = torch or (0, 0)
    beyond = max(0, device.used - reserved)
    sizes = {holder.pid: holder.size or 0 for holder in device.holders or ()}
    # A list without a process that surely holds memory counts pids of another namespace.
    listed = device.holders is not None and (reserved == 0 or pid in sizes)
    if not listed:
        return Held(live, beyond, 0, {}, listed=False, present=reserved > 0)
    children = {child: size for child, size in sizes.items() if owns(child)}
    return Held(live, beyond, max(0, sizes.get(pid, 0) - reserved), children, listed=True, present=pid in sizes)


def growth(before: Held, after: Held) -> Growth:
    """How much more is held; the first use of CUDA in between is allowed what it costs."""
    live = after.live - before.live
    allowance = CONTEXT if after.present and not before.present else 0
    if before.listed and after.listed:
        children = {pid: size - before.children.get(pid, 0) for pid, size in after.children.items()}
        return Growth(
            live,
            max(0, after.other - before.other - allowance),
            {pid: size for pid, size in children.items() if size > 0},
            0,
        )
    rest = max(0, after.beyond - before.beyond - allowance)
    if after.listed:  # listed only now: strangers cannot be told from before, so no more than our own hold counts
        rest = min(rest, after.other + sum(after.children.values()))
    return Growth(live, 0, {}, rest)
