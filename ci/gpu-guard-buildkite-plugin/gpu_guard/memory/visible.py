"""Which of a machine's GPUs this process may use, by the rules of the CUDA and ROCm runtimes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

ROCM = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
HIDING = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
"""Every variable that can hide a device."""


@dataclass(frozen=True, order=True)
class Candidate:
    """A device that exists. A MIG slice has the index of the GPU that it is cut from and `slice_of` set to its uuid.

    `whole` is False for a GPU that is cut into slices: CUDA cannot use it as one.
    """

    index: int
    uuid: str
    slice_of: str = ""
    whole: bool = True
    name: str = field(default="", compare=False)


def nvidia_visible(candidates: Sequence[Candidate], environ: Mapping[str, str]) -> list[Candidate]:
    """The devices that CUDA would show, in CUDA's order.

    CUDA_VISIBLE_DEVICES is CUDA's own word; without it NVIDIA_VISIBLE_DEVICES tells which ones a container was given,
    or will be. Without any choice CUDA takes every whole GPU, or the first slice where the GPUs are cut into slices:
    one process can use one slice.
    """
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return _cuda_chosen(candidates, chosen)
    given = _given(candidates, environ.get("NVIDIA_VISIBLE_DEVICES", ""))
    whole = [candidate for candidate in given if candidate.whole and not candidate.slice_of]
    return whole or [candidate for candidate in given if candidate.slice_of][:1]


def order_is_unsure(candidates: Sequence[Candidate], environ: Mapping[str, str]) -> bool:
    """Whether a number in CUDA_VISIBLE_DEVICES may mean another device than the driver's of that number.

    CUDA counts the fastest GPU first unless CUDA_DEVICE_ORDER is PCI_BUS_ID, the driver's order; among equal ones
    both agree.
    """
    if environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({item.name for item in candidates}) < 2:
        return False
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    return chosen is None or any(part.strip().isdigit() for part in chosen.split(","))


def rocm_visible(candidates: Sequence[Candidate], environ: Mapping[str, str]) -> list[Candidate]:
    """The devices that ROCm would show: each variable counts among what the one before it left."""
    left = list(candidates)
    for name in ROCM:
        if name in environ:
            renumbered = [replace(candidate, index=place) for place, candidate in enumerate(left)]
            positions = [candidate.index for candidate in _rocm_chosen(renumbered, environ[name])]
            left = [left[position] for position in positions]
            if name == "HIP_VISIBLE_DEVICES":
                break  # HIP reads CUDA_VISIBLE_DEVICES only where its own variable is absent
    return left


def _given(candidates: Sequence[Candidate], text: str) -> list[Candidate]:
    """What the container runtime gives by NVIDIA_VISIBLE_DEVICES.

    Its numbers are the host's: they choose where more devices are seen than they name, as on the host itself; inside
    the container, which shows only its own, they are numbers no longer. `void` says nothing: a runtime that injects
    devices by CDI sets it so that no other does it again.
    """
    entries = [part.strip() for part in text.split(",") if part.strip()]
    if entries == ["none"]:
        return []
    numbers = all(entry.isdigit() for entry in entries)
    matches = [_by_number(candidates, entry) if numbers else _by_uuid(candidates, entry) for entry in entries]
    named = {match.uuid for match in matches if match is not None}
    every = {item.index for item in candidates}
    if not named or (numbers and (None in matches or len(named) == len(every))):
        return list(candidates)
    return [item for item in candidates if item.uuid in named]


def _cuda_chosen(candidates: Sequence[Candidate], text: str) -> list[Candidate]:
    """CUDA_VISIBLE_DEVICES as the driver reads it; each rule was seen on two H200 (driver 580).

    All entries are of the first one's kind: numbers, of which only the leading digits count, or beginnings of uuids
    that fit one device alone. The first that names no device ends the list (`-1` does); a device named twice empties
    it.
    """
    by_uuid = text.strip().upper().startswith(("GPU-", "MIG-"))
    found: list[Candidate] = []
    for entry in (part.strip() for part in text.split(",")):
        match = _by_uuid(candidates, entry) if by_uuid else _by_number(candidates, entry)
        if match is None:
            break
        if match in found:
            return []
        found.append(match)
    return found


def _rocm_chosen(candidates: Sequence[Candidate], text: str) -> list[Candidate]:
    """Numbers and uuids, mixed as one likes; the first that names no device, or one again, ends the list."""
    found: list[Candidate] = []
    for entry in (part.strip() for part in text.split(",")):
        match = _by_number(candidates, entry) if entry.isdigit() else _by_uuid(candidates, entry)
        if match is None or match in found:
            break
        found.append(match)
    return found


def _by_number(candidates: Sequence[Candidate], entry: str) -> Candidate | None:
    digits = re.match(r"\+?([0-9]+)", entry)
    number = (digits[1].lstrip("0") or "0") if digits else ""  # as text: it may be longer than Python turns into one
    usable = [item for item in candidates if str(item.index) == number and (item.whole or item.slice_of)]
    return usable[0] if usable else None


def _by_uuid(candidates: Sequence[Candidate], entry: str) -> Candidate | None:
    start = entry.upper()
    if not start.startswith(("GPU-", "MIG-")) or len(start) == 4:  # of a uuid there must be something
        return None
    matches = [item for item in candidates if item.uuid.upper().startswith(start)]
    if len(matches) != 1:
        return None
    if matches[0].whole:
        return matches[0]
    slices = [item for item in candidates if item.slice_of == matches[0].uuid]
    return slices[0] if slices else None
