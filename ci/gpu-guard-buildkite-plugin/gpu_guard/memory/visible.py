"""Which of a machine's GPUs this process may use, by the rules of the CUDA and ROCm runtimes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

CUDA = ("CUDA_VISIBLE_DEVICES",)
ROCM = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")


@dataclass(frozen=True, order=True)
class Candidate:
    """A device that exists. A MIG slice has the index of the GPU that it is cut from and `slice_of` set to its uuid.

    `whole` is False for a GPU that is cut into slices: CUDA cannot use it as one.
    """

    index: int
    uuid: str
    slice_of: str = ""
    whole: bool = True


def nvidia_visible(candidates: Sequence[Candidate], environ: Mapping[str, str]) -> list[Candidate]:
    """The devices that CUDA would show, in CUDA's order.

    Inside a container the driver shows only what the container was given, so NVIDIA_VISIBLE_DEVICES is read for
    uuids alone: its numbers count the host's devices. Without any choice CUDA takes every whole GPU, or the first
    slice where the GPUs are cut into slices: one process can use one slice.
    """
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        given = environ.get("NVIDIA_VISIBLE_DEVICES", "")
        chosen = given if given.startswith(("GPU-", "MIG-")) else None
    if chosen is not None:
        return _chosen(candidates, chosen)
    whole = [candidate for candidate in candidates if candidate.whole and not candidate.slice_of]
    return whole or [candidate for candidate in candidates if candidate.slice_of][:1]


def rocm_visible(candidates: Sequence[Candidate], environ: Mapping[str, str]) -> list[Candidate]:
    """The devices that ROCm would show: each variable counts among what the one before it left."""
    left = list(candidates)
    for name in ROCM:
        if name in environ:
            renumbered = [replace(candidate, index=place) for place, candidate in enumerate(left)]
            positions = [candidate.index for candidate in _chosen(renumbered, environ[name])]
            left = [left[position] for position in positions]
            if name == "HIP_VISIBLE_DEVICES":
                break  # HIP reads CUDA_VISIBLE_DEVICES only where its own variable is absent
    return left


def _chosen(candidates: Sequence[Candidate], text: str) -> list[Candidate]:
    """Entries are numbers or beginnings of uuids; like CUDA, stop at the first one that names no device."""
    found: list[Candidate] = []
    for entry in (part.strip() for part in text.split(",")):
        match = _named(candidates, entry)
        if match is None or match in found:
            break
        found.append(match)
    return found


def _named(candidates: Sequence[Candidate], entry: str) -> Candidate | None:
    if entry.isdigit():
        usable = [item for item in candidates if item.index == int(entry) and (item.whole or item.slice_of)]
        return usable[0] if usable else None
    if not entry.startswith(("GPU-", "MIG-")):
        return None
    matches = [item for item in candidates if item.uuid.startswith(entry)]
    if not matches:
        return None
    if matches[0].whole:
        return matches[0]
    slices = [item for item in candidates if item.slice_of == matches[0].uuid]
    return slices[0] if slices else None
