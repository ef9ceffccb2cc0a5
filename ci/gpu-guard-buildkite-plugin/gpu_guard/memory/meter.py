"""One way to read GPU memory, whichever maker and driver: the first source that shows a device."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from .amd import SYSFS, AmdMeter
from .library import NoDriverError, NvmlError
from .nvml import NvmlMeter
from .query import QueryMeter
from .reading import Device, Reading
from .smi import SmiMeter, SmiUnusableError


class Meter(Protocol):
    """A source of readings. `source` names it for people; `devices` are the visible ones, in CUDA's or ROCm's order."""

    source: str
    devices: tuple[Device, ...]
    seen: int
    """How many devices there are, visible or not."""
    order_is_unsure: bool
    """Whether CUDA may count the devices otherwise than this does."""

    def read(self, *, careful: bool = False) -> Reading | None:
        """All devices now, or None where it cannot be told any more.

        `careful` asks for a fresh reading with its processes even where that takes a moment.
        """

    def earliest(self, since: float) -> Reading | None:
        """The first reading after a moment, from a source that tells the past; None where `read` is always of now."""

    def close(self) -> None:
        """Give back what the source holds."""


class NoMeter:
    """A machine whose GPUs cannot be seen, or that has none; `source` says which sources were tried.

    `broken` tells of a driver that is there and fails.
    """

    devices: tuple[Device, ...] = ()
    seen = 0
    order_is_unsure = False

    def __init__(self, source: str, *, broken: bool = False) -> None:
        self.source = source
        self.broken = broken

    def read(self, *, careful: bool = False) -> Reading | None:
        """No device."""
        del careful
        return Reading(time.time(), ())

    def earliest(self, since: float) -> None:
        """Nothing is kept."""
        del since

    def close(self) -> None:
        """Nothing is held open."""


def open_meter(environ: Mapping[str, str] | None = None, sysfs: Path = SYSFS) -> Meter:
    """The best meter that this machine has: NVML, then nvidia-smi, then AMD's files in `sysfs`."""
    return _first(os.environ if environ is None else environ, sysfs, SmiMeter)


def open_briefly(environ: Mapping[str, str] | None = None, sysfs: Path = SYSFS) -> Meter:
    """The same for a few readings by a process that is gone soon: no nvidia-smi is kept running for it."""
    return _first(os.environ if environ is None else environ, sysfs, QueryMeter)


def _first(environ: Mapping[str, str], sysfs: Path, smi: Callable[[Mapping[str, str]], Meter]) -> Meter:
    tried, broken = [], False
    try:
        meter = NvmlMeter(environ)
    except NvmlError as error:
        tried.append(f"NVML: {error}")
        broken = not isinstance(error, NoDriverError)
    else:
        if meter.seen:
            return meter
        meter.close()
        tried.append("NVML: no device")
    try:
        return smi(environ)
    except SmiUnusableError as error:
        tried.append(str(error))
        broken = broken or error.hangs
    amd = AmdMeter(environ, sysfs)
    if amd.seen:
        return amd
    tried.append("no AMD card in sysfs")
    return NoMeter("; ".join(tried), broken=broken)
