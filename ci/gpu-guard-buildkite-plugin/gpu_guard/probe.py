"""How full each visible GPU is and who fills it, in words and as data; no CUDA context is made."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .budget import GIB, MIB, Card
from .memory import Device, DeviceReading, Holder, Meter, Reading

_SLACK = 700 * MIB
"""Used memory that no list explains and nobody need hold: older drivers count what they keep for themselves, some
600 MiB, and every context takes a few MiB more than its process is charged."""

_MOST_NAMED = 6


class Snapshot(NamedTuple):
    """All visible devices with their readings at one moment; `source` says what read them, or why nothing could."""

    source: str
    devices: tuple[Device, ...]
    reading: Reading

    def cards(self) -> list[Card]:
        """The devices as the budget takes them."""
        return [
            Card(f"cuda:{device.index}", one.free, one.total)
            for device, one in zip(self.devices, self.reading.devices)
        ]  # fmt: skip

    def lines(self) -> list[str]:
        """A line for each device, and one for each that somebody fills."""
        found = []
        for device, one in zip(self.devices, self.reading.devices):
            where = f"cuda:{device.index} {device.name} {device.uuid}"
            found.append(f"{where}: {one.free / GIB:.2f} of {one.total / GIB:.2f} GiB free, {one.used / GIB:.2f} used")
            who = holders_sentence(one)
            if who:
                found.append(f"  {who}")
        return found

    def holders(self) -> list[str]:
        """A sentence for each device that somebody fills."""
        told = ((device, holders_sentence(one)) for device, one in zip(self.devices, self.reading.devices))
        return [f"cuda:{device.index} is {sentence}" for device, sentence in told if sentence]

    def as_data(self) -> dict[str, Any]:
        """The same as JSON takes it; sizes are bytes."""
        return {
            "source": self.source,
            "at": self.reading.at,
            "devices": [
                {
                    "index": device.index, "uuid": device.uuid, "name": device.name, "free": one.free,
                    "total": one.total, "used": one.used, "unlisted": unlisted(one),
                    "holders": None if one.holders is None else [holder._asdict() for holder in one.holders],
                }
                for device, one in zip(self.devices, self.reading.devices)
            ],
        }  # fmt: skip


def take(meter: Meter) -> Optional[Snapshot]:
    """A snapshot of now, with the processes; None where the driver gives no reading."""
    reading = meter.read(careful=True)
    return None if reading is None else Snapshot(meter.source, meter.devices, reading)


def unlisted(reading: DeviceReading) -> int:
    """Bytes in use that no listed process holds: a process outside this container. 0 where that cannot be told."""
    if reading.holders is None or any(holder.size is None for holder in reading.holders):
        return 0
    left = reading.used - sum(holder.size or 0 for holder in reading.holders)
    return left if left > _SLACK else 0


def holders_sentence(reading: DeviceReading) -> str:
    """Who holds the memory, largest first; empty where nobody does."""
    known = sorted(reading.holders or (), key=lambda holder: -(holder.size or 0))
    parts = [_named(holder) for holder in known[:_MOST_NAMED]]
    if len(known) > _MOST_NAMED:
        parts.append(f"{len(known) - _MOST_NAMED} more")
    outside = unlisted(reading)
    if outside:
        parts.append(f"{outside / GIB:.2f} GiB by what this machine does not list: a process outside this container")
    if reading.holders is None and reading.used > _SLACK:
        parts.append("processes that the driver does not list here")
    return "held by " + ", ".join(parts) if parts else ""


def _named(holder: Holder) -> str:
    size = "an unknown size" if holder.size is None else f"{holder.size / GIB:.2f} GiB"
    return f"pid {holder.pid} {holder.name or 'of another container'} ({size})"
