"""GPU memory around each attempt: samples, the fields that go into its line, and its leak."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Optional

from gpu_guard.memory import Meter, Reading
from gpu_guard.memory.process import Family

from . import torchstate
from .held import Held, held
from .leaks import Leak, LeakWatch, Mark
from .parcel import Line
from .stamp import rfc3339
from .tensors import FrozenTensors, Listed
from .torchstate import Counters


class Sample(NamedTuple):
    """All devices at one moment: as the driver sees them, as torch counts, and what is this process's doing."""

    reading: Reading
    counters: Optional[tuple[Counters, ...]]
    held: tuple[Held, ...]


class GpuWatch:
    """Watches the devices of `meter`. `clean`: collect garbage and empty torch's cache before the last sample."""

    def __init__(self, meter: Meter, family: Family, *, clean: bool) -> None:
        self._meter = meter
        self._family = family
        self._clean = clean
        self._pid = os.getpid()
        self._frozen = FrozenTensors()
        self._leaks = LeakWatch(len(meter.devices), self._take_again, self._frozen)
        self._before: Sample | None = None
        self._last: Sample | None = None
        self._ended_at = 0.0
        self._stale_since: float | None = None

    def start(self) -> None:
        """Begin to watch; `gc.freeze` is noted from here on."""
        self._frozen.install()

    def stop(self) -> None:
        """Leave everything as it was."""
        self._frozen.uninstall()
        self._meter.close()

    def attempt_starts(self) -> None:
        """The sample before an attempt."""
        self._before = self._take()
        if self._before is not None:
            # A source that prints now and then may still show the time before the last test ended.
            self._stale_since = self._ended_at if self._before.reading.at < self._ended_at else None
            self._leaks.attempt_starts(self._before.held, fresh=self._stale_since is None)

    def opening(self) -> Line:
        """The memory fields known when an attempt starts."""
        return {"memory": self._fields(self._before, None)} if self._before is not None else {}

    def attempt_ends(self) -> tuple[Line, Leak | None]:
        """The memory fields of the attempt's line, and its leak."""
        before, self._before = self._before, None
        self._ended_at = time.time()
        if self._clean:
            clean()
        after = self._take()
        if before is None or after is None:
            return {"memory": self._fields(before, after)} if before or after else {}, None
        self._last = after
        self._look_back(before, after)
        leak = self._leaks.attempt_ends(after.held)
        after = self._last  # memory may have settled since
        line: Line = {"memory": self._fields(before, after)}
        if any(device.holders is not None for device in after.reading.devices):
            line["holders"] = _holders(after.reading)
        if leak is not None:
            line["leak"] = {"bytes": leak.size, "tensors": [_tensor(tensor) for tensor in leak.tensors]}
        return line, leak

    def fixture_starts(self) -> Mark | None:
        """Before a fixture that outlives the test."""
        sample = self._take()
        return self._leaks.mark(sample.held) if sample is not None else None

    def fixture_ready(self, key: object, values: Callable[[], Iterable[object]], start: Mark | None) -> None:
        """After it."""
        sample = self._take() if start is not None else None
        if sample is not None and start is not None:
            self._leaks.fixture_ready(key, values, start, sample.held)

    def fixture_gone(self, key: object) -> None:
        """A fixture was torn down."""
        self._leaks.fixture_gone(key)

    def free(self) -> tuple[int, int] | None:
        """Free and total of the fullest device, for an engine about to start."""
        sample = self._take()
        if sample is None or not sample.reading.devices:
            return None
        fullest = min(sample.reading.devices, key=lambda device: device.free / max(1, device.total))
        return fullest.free, fullest.total

    def _look_back(self, before: Sample, after: Sample) -> None:
        """Let an attempt that began with an old reading have begun with the first newer one.

        Torch's share at that moment is unknown, so only where it never changed.
        """
        if self._stale_since is None or before.counters != after.counters:
            return
        reading = self._meter.earliest(self._stale_since)
        if reading is not None:
            self._leaks.attempt_started_with(self._held(reading, before.counters))

    def _take(self, *, careful: bool = False) -> Sample | None:
        if os.getpid() != self._pid:
            return None  # a forked test: the parent sees what it leaves
        reading = self._meter.read(careful=careful)
        if reading is None:
            return None
        holders = [holder.pid for device in reading.devices for holder in device.holders or ()]
        self._family.forget_dead(set(holders))
        counters = torchstate.counters(len(reading.devices))
        return Sample(reading, counters, self._held(reading, counters))

    def _held(self, reading: Reading, counters: Optional[tuple[Counters, ...]]) -> tuple[Held, ...]:
        each = counters or (None,) * len(reading.devices)
        owns = self._family.owns
        return tuple(held(one, own, self._pid, owns) for one, own in zip(reading.devices, each))

    def _take_again(self) -> tuple[Held, ...]:
        """A careful sample while memory settles; the last one made is the sample after the attempt."""
        self._last = self._take(careful=True) or self._last
        return self._last.held if self._last is not None else ()

    def _fields(self, before: Sample | None, after: Sample | None) -> list[Line]:
        return [
            {
                "device": device.index,
                **(_side(before, device.index, "before") if before else {}),
                **(_side(after, device.index, "after") if after else {}),
            }
            for device in self._meter.devices
        ]


def clean() -> None:
    """Collect garbage and give torch's cache back to the device; what still lives stays."""
    gc.collect()
    torch = torchstate.loaded()
    if torch is not None and torchstate.cuda_started():
        torch.cuda.empty_cache()


def _side(sample: Sample, place: int, side: str) -> Line:
    device = sample.reading.devices[place]
    found: Line = {
        f"at_{side}": rfc3339(sample.reading.at),
        f"free_{side}": device.free,
        f"used_{side}": device.used,
    }
    if sample.counters is not None:
        found[f"torch_reserved_{side}"] = sample.counters[place].reserved
        if side == "after":
            found["torch_allocated_after"] = sample.counters[place].allocated
    return found


def _holders(reading: Reading) -> list[Line]:
    """Every process that the driver lists, once, with its bytes over all devices."""
    found: dict[int, Line] = {}
    for device in reading.devices:
        for holder in device.holders or ():
            entry = found.setdefault(holder.pid, {"pid": holder.pid, "name": holder.name})
            if holder.size is not None:
                entry["bytes"] = entry.get("bytes", 0) + holder.size
    return sorted(found.values(), key=lambda entry: -int(entry.get("bytes", 0)))


def _tensor(tensor: Listed) -> dict[str, Any]:
    line = {"shape": tensor.shape, "dtype": tensor.dtype, "bytes": tensor.size}
    return {**line, "referrer": tensor.referrer} if tensor.referrer else line
