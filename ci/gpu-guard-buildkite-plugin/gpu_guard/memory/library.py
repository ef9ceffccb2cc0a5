"""The calls of NVIDIA's management library that are needed here, by ctypes: wherever the driver is, so is it.

Layouts and numbers are those of nvml.h. No bindings are asked of the environment, and no CUDA context is made.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Optional

FILE = "libnvidia-ml.so.1"

_INSUFFICIENT_SIZE = 7
_NOT_AVAILABLE = 2**64 - 1  # the size of a process where the driver will not tell
_TEXT = 96  # NVML_DEVICE_UUID_V2_BUFFER_SIZE and NVML_DEVICE_NAME_V2_BUFFER_SIZE
_MOST_TRIES = 4

Handle = ctypes.c_void_p


class NvmlError(Exception):
    """The library is not there, or a call of it failed; the text is the driver's own."""


class NoDriverError(NvmlError):
    """There is no driver here at all."""


class NotSupportedError(NvmlError):
    """The driver knows the question and has no answer for this device."""


_KINDS = {3: NotSupportedError, 9: NoDriverError}
"""By the library's codes; 9 is said where the kernel has no driver loaded."""


class Memory(NamedTuple):
    """Bytes of a device. `reserved` is what the driver keeps; None where it counts that as `used`."""

    total: int
    reserved: Optional[int]
    free: int
    used: int


class Process(NamedTuple):
    """A process with a context on a device; `size` in bytes, None where the driver hides it."""

    pid: int
    size: Optional[int]


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Memory2(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint),
        ("total", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("size", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("slice", ctypes.c_uint),
    )


_VERSION_2 = ctypes.sizeof(_Memory2) | 2 << 24


class Library:
    """The library, loaded and started."""

    def __init__(self) -> None:
        """Raise NvmlError where there is no driver."""
        try:
            self._library = ctypes.CDLL(FILE)
        except OSError as error:
            raise NoDriverError(f"no {FILE}") from error
        self._call("nvmlInit_v2")

    def close(self) -> None:
        """Let go of the driver."""
        self._call("nvmlShutdown")

    def count(self) -> int:
        """How many GPUs there are."""
        return self._number("nvmlDeviceGetCount_v2")

    def device(self, index: int) -> Handle:
        """A GPU by its place in PCI order."""
        handle = Handle()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        return handle

    def uuid(self, handle: Handle) -> str:
        """`GPU-…`, or `MIG-…` of a slice."""
        return self._text("nvmlDeviceGetUUID", handle)

    def name(self, handle: Handle) -> str:
        """The product's name."""
        return self._text("nvmlDeviceGetName", handle)

    def is_cut(self, handle: Handle) -> bool:
        """Whether a GPU is cut into MIG slices; NvmlError where it knows no such thing."""
        now, later = ctypes.c_uint(), ctypes.c_uint()
        self._call("nvmlDeviceGetMigMode", handle, ctypes.byref(now), ctypes.byref(later))
        return now.value == 1

    def most_slices(self, handle: Handle) -> int:
        """How many slices a GPU can be cut into; not each need be there."""
        return self._number("nvmlDeviceGetMaxMigDeviceCount", handle)

    def slice(self, handle: Handle, number: int) -> Handle:
        """One slice; NvmlError where its place is empty."""
        found = Handle()
        self._call("nvmlDeviceGetMigDeviceHandleByIndex", handle, ctypes.c_uint(number), ctypes.byref(found))
        return found

    def memory(self, handle: Handle) -> Memory:
        """How full a device is. Drivers before 510 do not tell what they keep apart from what is used."""
        newer = _Memory2(version=_VERSION_2)
        try:
            self._call("nvmlDeviceGetMemoryInfo_v2", handle, ctypes.byref(newer))
        except NvmlError:
            older = _Memory()
            self._call("nvmlDeviceGetMemoryInfo", handle, ctypes.byref(older))
            return Memory(older.total, None, older.free, older.used)
        return Memory(newer.total, newer.reserved, newer.free, newer.used)

    def processes(self, handle: Handle) -> list[Process]:
        """Who computes on a device, as far as this container may see."""
        call = self._function("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")
        count = ctypes.c_uint(16)
        for _ in range(_MOST_TRIES):
            listed = (_Process * count.value)()
            code = call(handle, ctypes.byref(count), listed)
            if code != _INSUFFICIENT_SIZE:
                break
            count.value += 8  # some may come before the next try
        self._check(code)
        return [
            Process(entry.pid, None if entry.size == _NOT_AVAILABLE else entry.size) for entry in listed[: count.value]
        ]

    def _number(self, name: str, *arguments: Any) -> int:
        found = ctypes.c_uint()
        self._call(name, *arguments, ctypes.byref(found))
        return found.value

    def _text(self, name: str, handle: Handle) -> str:
        found = ctypes.create_string_buffer(_TEXT)
        self._call(name, handle, found, ctypes.c_uint(_TEXT))
        return found.value.decode(errors="replace")

    def _call(self, name: str, *arguments: Any) -> None:
        self._check(self._function(name)(*arguments))

    def _function(self, *names: str) -> Any:
        """The first of these that this driver has."""
        for name in names:
            function = getattr(self._library, name, None)
            if function is not None:
                return function
        raise NvmlError(f"this driver has no {names[0]}")

    def _check(self, code: int) -> None:
        if code:
            explain = self._library.nvmlErrorString
            explain.restype = ctypes.c_char_p
            said = explain(code) or b""
            raise _KINDS.get(code, NvmlError)(said.decode(errors="replace") or f"error {code}")
