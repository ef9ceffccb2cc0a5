"""NVIDIA's devices through the driver's own library."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Optional

from . import process
from .host import host_memory
from .library import Handle, Library, NotSupportedError, NvmlError
from .reading import Device, DeviceReading, Holder, Reading
from .visible import Candidate, nvidia_visible, order_is_unsure


class NvmlMeter:
    """Reads through NVML: some 10 µs a device, and 40 µs for its list of processes."""

    source = "nvml"

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raise NvmlError where there is no driver."""
        self._library = Library()
        found = self._candidates()
        handles = dict(found)
        candidates = [candidate for candidate, _ in found]
        self.seen = len(candidates)
        self.order_is_unsure = order_is_unsure(candidates, environ)
        visible = nvidia_visible(candidates, environ)
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
        except NvmlError:
            return None

    def earliest(self, since: float) -> None:
        """Nothing is kept: every reading is of now."""
        del since

    def close(self) -> None:
        """Let go of the library."""
        try:
            self._library.close()
        except NvmlError:
            return  # something else shut it down before

    def _candidates(self) -> list[tuple[Candidate, Handle]]:
        library = self._library
        found: list[tuple[Candidate, Handle]] = []
        for index in range(library.count()):
            handle = library.device(index)
            uuid, name = library.uuid(handle), self._name(handle)
            slices = self._slices(handle)
            found.append((Candidate(index, uuid, name=name, whole=slices is None), handle))
            found += [(Candidate(index, library.uuid(part), name=name, slice_of=uuid), part) for part in slices or []]
        return found

    def _slices(self, handle: Handle) -> list[Handle] | None:
        """The MIG slices of a GPU; None where it is not cut."""
        try:
            if not self._library.is_cut(handle):
                return None
            most = self._library.most_slices(handle)
        except NvmlError:  # a GPU that knows no MIG
            return None
        parts = (self._slice(handle, number) for number in range(most))
        return [part for part in parts if part is not None]

    def _slice(self, handle: Handle, number: int) -> Optional[Handle]:
        try:
            return self._library.slice(handle, number)
        except NvmlError:  # an empty place, or a slice of another container
            return None

    def _name(self, handle: Handle) -> str:
        try:
            return self._library.name(handle)
        except NvmlError:
            return ""

    def _memory(self, handle: Handle) -> tuple[int, int, int]:
        """Free, total, used; CUDA's total is the driver's without what the driver keeps."""
        try:
            memory = self._library.memory(handle)
        except NotSupportedError:  # a GPU that shares the machine's memory: CUDA counts that, and so does vLLM
            shared = host_memory()
            if shared is None:
                raise
            return shared.available, shared.total, shared.total - shared.available
        return memory.free, memory.total - (memory.reserved or 0), memory.used

    def _read_device(self, handle: Handle) -> DeviceReading:
        return DeviceReading(*self._memory(handle), self._holders(handle))

    def _holders(self, handle: Handle) -> tuple[Holder, ...] | None:
        try:
            listed = self._library.processes(handle)
        except NvmlError:  # not allowed here, or not supported
            return None
        return tuple(Holder(entry.pid, process.name_of(entry.pid), entry.size) for entry in listed)
