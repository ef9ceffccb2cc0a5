"""The machine's own memory, for GPUs that have none of their own and share it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Optional

MEMINFO = Path("/proc/meminfo")


class HostMemory(NamedTuple):
    """Bytes of the machine; `available` is what programs can have without swapping."""

    total: int
    available: int


def host_memory(file: Path = MEMINFO) -> Optional[HostMemory]:
    """What the kernel says, in its documented form; None where it says nothing."""
    try:
        lines = file.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    fields = [line.split() for line in lines]
    sizes = {field[0]: int(field[1]) * 1024 for field in fields if len(field) == 3 and field[1].isdecimal()}
    if "MemTotal:" not in sizes or "MemAvailable:" not in sizes:
        return None
    return HostMemory(sizes["MemTotal:"], sizes["MemAvailable:"])
