"""The table that `nvidia-smi` prints (drivers 450 to 580): memory of each GPU and MIG slice, and who holds it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from flake_report.model.results import Holder

_GPU = re.compile(r"\|\s+(\d+)\s+\S.*?\|\s+[0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+\.\d\s")
_MEMORY = re.compile(r"\|[^|]*\|\s*(\d+)MiB\s*/\s*(\d+)MiB\s*\|")
_MIG = re.compile(r"\|\s+(\d+)\s+(\d+)\s+(\d+)\s+\d+\s+\|\s*(\d+)MiB\s*/\s*(\d+)MiB\s*\|")
_HOLDER = re.compile(
    r"\|\s+(?P<gpu>\d+)\s+(?:(?P<gi>\d+|N/A)\s+(?P<ci>\d+|N/A)\s+)?(?P<pid>\d+)\s+[CGM+]+\s+(?P<name>\S.*?)\s+(?P<size>\d+)MiB\s*\|"
)
MIB = 1 << 20


@dataclass(slots=True)
class Device:
    """One GPU by its index, or one MIG slice as `index/GPU instance/compute instance`; sizes in bytes."""

    name: str
    used: int
    total: int
    holders: list[Holder] = field(default_factory=list)


class SmiTable:
    """One table while its lines come in."""

    def __init__(self) -> None:
        self.devices: dict[str, Device] = {}
        self._gpu = ""

    def see(self, text: str) -> bool:
        """Takes in a line of the table; false for any other line."""
        if found := _GPU.match(text):
            self._gpu = found[1]
        elif found := _MIG.match(text):
            self._add(f"{found[1]}/{found[2]}/{found[3]}", found[4], found[5])
        elif found := _MEMORY.match(text):
            if self._gpu:  # the row below a slice's is its BAR1 memory
                self._add(self._gpu, found[1], found[2])
            self._gpu = ""
        elif found := _HOLDER.match(text):
            self._hold(found)
        else:
            return False
        return True

    def _add(self, name: str, used: str, total: str) -> None:
        self.devices[name] = Device(name, int(used) * MIB, int(total) * MIB)

    def _hold(self, found: re.Match[str]) -> None:
        slice_ = f"{found['gpu']}/{found['gi']}/{found['ci']}"
        device = self.devices.get(slice_) or self.devices.get(found["gpu"])
        if device is not None:
            device.holders.append(Holder(int(found["pid"]), found["name"], int(found["size"]) * MIB))
