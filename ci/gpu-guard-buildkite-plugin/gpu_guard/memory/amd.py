"""AMD GPUs through the kernel's files: sizes in the card's folder, processes in the compute driver's.

Files: `mem_info_vram_total`, `mem_info_vram_used` (documentation of the kernel's amdgpu driver);
`class/kfd/kfd/topology/nodes/*/properties` gives ROCm's order, `class/kfd/kfd/proc/<pid>/vram_<gpu id>` the holders.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from . import process
from .reading import Device, DeviceReading, Holder, Reading
from .visible import Candidate, rocm_visible

SYSFS = Path("/sys")


class _Card(NamedTuple):
    folder: Path
    uuid: str
    gpu_id: str


class AmdMeter:
    """Reads sysfs; two small files a device."""

    source = "sysfs"
    order_is_unsure = False

    def __init__(self, environ: Mapping[str, str], sysfs: Path = SYSFS) -> None:
        self._processes = sysfs / "class" / "kfd" / "kfd" / "proc"
        cards = _cards_by_topology(sysfs) or _cards_by_address(sysfs)
        self.seen = len(cards)
        visible = rocm_visible([Candidate(place, card.uuid) for place, card in enumerate(cards)], environ)
        by_uuid = {card.uuid: card for card in cards}
        self._cards = [by_uuid[candidate.uuid] for candidate in visible]
        self.devices = tuple(
            Device(place, card.uuid, _name(card.folder), _number(card.folder / "mem_info_vram_total") or 0)
            for place, card in enumerate(self._cards)
        )

    def read(self, *, careful: bool = False) -> Reading | None:
        """Every visible device now; None where a card is gone. `careful` changes nothing here."""
        del careful
        at = time.time()
        readings = [self._read_card(card) for card in self._cards]
        whole = [reading for reading in readings if reading is not None]
        return Reading(at, tuple(whole)) if len(whole) == len(readings) else None

    def earliest(self, since: float) -> None:
        """Nothing is kept: every reading is of now."""
        del since

    def close(self) -> None:
        """Nothing is held open."""

    def _read_card(self, card: _Card) -> DeviceReading | None:
        total = _number(card.folder / "mem_info_vram_total")
        used = _number(card.folder / "mem_info_vram_used")
        if total is None or used is None:
            return None
        return DeviceReading(total - used, total, used, self._holders(card))

    def _holders(self, card: _Card) -> tuple[Holder, ...] | None:
        if not card.gpu_id or not self._processes.is_dir():
            return None
        found = []
        for folder in sorted(self._processes.iterdir()):
            size = _number(folder / f"vram_{card.gpu_id}")
            if size and folder.name.isdecimal():
                found.append(Holder(int(folder.name), process.name_of(int(folder.name)), size))
        return tuple(found)


def _cards_by_topology(sysfs: Path) -> list[_Card]:
    """Cards in the order of ROCm's devices; nodes without a render device are CPUs."""
    cards = []
    nodes = sysfs / "class" / "kfd" / "kfd" / "topology" / "nodes"
    for node in sorted(nodes.glob("*"), key=lambda folder: (len(folder.name), folder.name)):
        properties = _properties(node / "properties")
        folder = sysfs / "class" / "drm" / f"renderD{properties.get('drm_render_minor', '0')}" / "device"
        if (folder / "mem_info_vram_total").is_file():
            gpu_id = _text(node / "gpu_id")
            cards.append(_Card(folder, _uuid(int(properties.get("unique_id", "0")), folder), gpu_id))
    return cards


def _cards_by_address(sysfs: Path) -> list[_Card]:
    """Cards by PCI address: ROCm's usual order, for containers that do not see the compute driver's files."""
    folders = {path.parent.resolve() for path in (sysfs / "class" / "drm").glob("card*/device/mem_info_vram_total")}
    return [_Card(folder, _uuid(_hex(folder / "unique_id"), folder), "") for folder in sorted(folders)]


def _uuid(unique_id: int, folder: Path) -> str:
    """ROCm's own spelling, `GPU-` and 16 hex digits; older cards have no number and go by their address."""
    return f"GPU-{unique_id:016x}" if unique_id else f"GPU-{folder.resolve().name}"


def _name(folder: Path) -> str:
    return _text(folder / "product_name") or f"AMD GPU {_text(folder / 'device')}".strip()


def _properties(file: Path) -> dict[str, str]:
    lines = (line.split() for line in _text(file).splitlines())
    return {fields[0]: fields[1] for fields in lines if len(fields) == 2 and fields[1].isdecimal()}


def _number(file: Path) -> int | None:
    text = _text(file)
    return int(text) if text.isdecimal() else None


def _hex(file: Path) -> int:
    try:
        return int(_text(file) or "0", 16)
    except ValueError:
        return 0


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:  # not there, or not for us to read
        return ""
