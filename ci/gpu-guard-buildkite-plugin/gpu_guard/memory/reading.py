"""What a meter tells: devices, and how full each one is at a moment. Sizes are bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Device:
    """One visible device. `index` is its place among the visible ones, as CUDA counts (`cuda:0`).

    `total_bytes` is what CUDA can give: the driver's total less what the driver keeps for itself.
    """

    index: int
    uuid: str
    name: str
    total_bytes: int


class Holder(NamedTuple):
    """A process that holds memory of a device, as the driver lists it; `size` is None where the driver hides it."""

    pid: int
    name: str
    size: int | None


class DeviceReading(NamedTuple):
    """One device at one moment. `holders` is None where the source lists no processes, empty where none holds any."""

    free: int
    total: int
    used: int
    holders: tuple[Holder, ...] | None


class Reading(NamedTuple):
    """All visible devices at one moment, in their order. `at` is in seconds since the epoch."""

    at: float
    devices: tuple[DeviceReading, ...]
