"""One way to read GPU memory, whichever maker and driver: the first source that shows a device."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from .amd import SYSFS, AmdMeter
from .nvml import NvmlMeter, bindings
from .reading import Device, Reading
from .smi import SmiMeter, SmiUnusableError


class Meter(Protocol):
    """A source of readings. `source` names it for people; `devices` are the visible ones, in CUDA's or ROCm's order."""

    source: str
    devices: tuple[Device, ...]

    def read(self, *, careful: bool = False) -> Reading | None:
        """All devices now, or None where it cannot be told any more.

        `careful` asks for a fresh reading with its processes even where that takes a moment.
        """

    def earliest(self, since: float) -> Reading | None:
        """The first reading after a moment, from a source that tells the past; None where `read` is always of now."""

    def close(self) -> None:
        """Give back what the source holds."""


class NoMeter:
    """A machine whose GPUs cannot be seen, or that has none; `source` says which sources were tried."""

    devices: tuple[Device, ...] = ()

    def __init__(self, source: str) -> None:
        self.source = source

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
    environ = os.environ if environ is None else environ
    tried = []
    nvml = bindings()
    if nvml is None:
        tried.append("no NVML bindings")
    else:
        try:
            return NvmlMeter(nvml, environ)
        except nvml.NVMLError as error:
            tried.append(f"NVML: {error}")
    try:
        return SmiMeter(environ)
    except SmiUnusableError as error:
        tried.append(str(error))
    amd = AmdMeter(environ, sysfs)
    if amd.devices:
        return amd
    tried.append("no AMD card in sysfs")
    return NoMeter("; ".join(tried))
