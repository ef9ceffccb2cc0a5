"""NVIDIA's management library through its Python bindings, wherever the environment has them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from . import process
from .reading import Device, DeviceReading, Holder, Reading
from .visible import Candidate, nvidia_visible


def bindings() -> ModuleType | None:
    """`pynvml` of the package nvidia-ml-py, else the copy that vLLM carries; None where neither is installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an old package of the same name only warns that it is old
        try:
            return importlib.import_module("pynvml")
        except ImportError:
            return _vllm_copy()


def _vllm_copy() -> ModuleType | None:
    # By its file: importing the package would import torch before the tests set their environment.
    package = importlib.util.find_spec("vllm")
    for folder in (package.submodule_search_locations or []) if package else []:
        file = Path(folder) / "third_party" / "pynvml.py"
        spec = importlib.util.spec_from_file_location("gpu_guard_vllm_pynvml", file) if file.is_file() else None
        if spec is not None and spec.loader is not None:
            module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # it looks itself up there
            spec.loader.exec_module(module)
            return module
    return None


class NvmlMeter:
    """Reads through NVML: some 10 µs a device, and 40 µs for its list of processes."""

    source = "nvml"

    def __init__(self, nvml: Any, environ: Mapping[str, str]) -> None:
        """Raise `nvml.NVMLError` where there is no driver."""
        self._nvml = nvml
        nvml.nvmlInit()
        found = self._candidates()
        visible = nvidia_visible([candidate for candidate, _ in found], environ)
        handles = dict(found)
        self._handles = [handles[candidate] for candidate in visible]
        self.devices = tuple(
            Device(index, candidate.uuid, self._name(handles[candidate]), self._memory(handles[candidate])[1])
            for index, candidate in enumerate(visible)
        )

    def read(self, *, careful: bool = False) -> Reading | None:
        """Every visible device now; None where the driver stopped answering. `careful` changes nothing here."""
        del careful
        try:
            return Reading(time.time(), tuple(self._read_device(handle) for handle in self._handles))
        except self._nvml.NVMLError:
            return None

    def earliest(self, since: float) -> None:
        """Nothing is kept: every reading is of now."""
        del since

    def close(self) -> None:
        """Let go of the library."""
        try:
            self._nvml.nvmlShutdown()
        except self._nvml.NVMLError:
            return  # something else shut it down before

    def _candidates(self) -> list[tuple[Candidate, Any]]:
        nvml = self._nvml
        found: list[tuple[Candidate, Any]] = []
        for index in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            uuid = _text(nvml.nvmlDeviceGetUUID(handle))
            slices = self._slices(handle)
            found.append((Candidate(index, uuid, whole=slices is None), handle))
            found += [
                (Candidate(index, _text(nvml.nvmlDeviceGetUUID(part)), slice_of=uuid), part) for part in slices or []
            ]
        return found

    def _slices(self, handle: Any) -> list[Any] | None:
        """The MIG slices of a GPU; None where it is not cut."""
        nvml = self._nvml
        try:
            if not nvml.nvmlDeviceGetMigMode(handle)[0]:
                return None
            most = nvml.nvmlDeviceGetMaxMigDeviceCount(handle)
        except nvml.NVMLError:  # a GPU that knows no MIG
            return None
        parts = (self._slice(handle, number) for number in range(most))
        return [part for part in parts if part is not None]

    def _slice(self, handle: Any, number: int) -> Any | None:
        try:
            return self._nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
        except self._nvml.NVMLError:  # an empty place, or a slice of another container
            return None

    def _name(self, handle: Any) -> str:
        try:
            return _text(self._nvml.nvmlDeviceGetName(handle))
        except self._nvml.NVMLError:
            return ""

    def _memory(self, handle: Any) -> tuple[int, int, int]:
        """Free, total, used. The second form leaves out what the driver keeps; the first counts it as used."""
        nvml = self._nvml
        try:
            memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        except (nvml.NVMLError, AttributeError, TypeError):  # an older driver, or older bindings
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
            return int(memory.free), int(memory.total), int(memory.used)
        return int(memory.free), int(memory.total) - int(memory.reserved), int(memory.used)

    def _read_device(self, handle: Any) -> DeviceReading:
        return DeviceReading(*self._memory(handle), self._holders(handle))

    def _holders(self, handle: Any) -> tuple[Holder, ...] | None:
        try:
            listed = self._nvml.nvmlDeviceGetComputeRunningProcesses(handle)
        except self._nvml.NVMLError:  # not allowed here, or not supported
            return None
        return tuple(
            Holder(
                entry.pid, process.name_of(entry.pid), None if entry.usedGpuMemory is None else int(entry.usedGpuMemory)
            )
            for entry in listed
        )


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
