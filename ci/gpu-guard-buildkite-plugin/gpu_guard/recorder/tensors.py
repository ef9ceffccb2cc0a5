"""Live GPU tensors of this process, and who refers to them.

`gc.freeze` moves every object out of the collector's sight, and vLLM calls it when an engine is up: tensors of an
engine that is garbage by now could be found by no walk at all. So they are noted, weakly, just before each freeze.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from . import torchstate
from .referrers import Ours, describe_referrers

NAMED = 10
"""Tensors listed by shape and type."""
TRACED = 4
"""Of those, how many get their referrer looked for: each step costs a scan of the heap."""


class Listed(NamedTuple):
    """One live tensor: the bytes of its storage, which views share."""

    shape: list[int]
    dtype: str
    size: int
    referrer: str


def live(device: str = "cuda") -> Ours:
    """Tensors that the collector tracks and whose memory lies on a device of this type."""
    torch = torchstate.loaded()
    if torch is None:
        return Ours()
    return Ours(item for item in gc.get_objects() if issubclass(type(item), torch.Tensor) and _real(item, device))


def by_storage(tensors: Iterable[Any]) -> Ours:
    """One tensor for each storage, the largest that looks into it; largest storage first."""
    storages: dict[int, tuple[int, int, Any]] = {}
    for tensor in tensors:
        address, size = _storage(tensor)
        span = tensor.numel() * tensor.element_size()
        if size and (address not in storages or span > storages[address][1]):
            storages[address] = (size, span, tensor)
    return Ours(tensor for _, _, tensor in sorted(storages.values(), key=lambda entry: entry[0], reverse=True))


def size_of(tensor: Any) -> int:
    """Bytes of the storage behind a tensor."""
    return _storage(tensor)[1]


def listed(ordered: Ours, referrers: Mapping[int, str]) -> list[Listed]:
    """The first tensors in words; `referrers` are known already, by the tensor's `id`, and others are looked for."""
    shown = Ours(ordered[:NAMED])
    unknown = Ours(tensor for tensor in shown[:TRACED] if id(tensor) not in referrers)
    found = dict(zip(map(id, unknown), describe_referrers(unknown)))
    return [
        Listed(
            shape=[int(length) for length in tensor.shape],
            dtype=str(tensor.dtype),
            size=size_of(tensor),
            referrer=found.get(id(tensor)) or referrers.get(id(tensor), ""),
        )
        for tensor in shown
    ]


class FrozenTensors:
    """Notes GPU tensors before each `gc.freeze`, for as long as it is installed."""

    def __init__(self, device: str = "cuda") -> None:
        self._device = device
        self._noted: list[tuple[weakref.ref[Any], str]] = []
        self._freeze: Callable[[], None] | None = None

    def install(self) -> None:
        """Stand in for `gc.freeze`; what it does stays the same."""
        freeze = self._freeze = gc.freeze

        def noting_freeze() -> None:
            self._note()
            freeze()

        gc.freeze = noting_freeze

    def uninstall(self) -> None:
        """Put the real `gc.freeze` back."""
        if self._freeze is not None:
            gc.freeze = self._freeze
            self._freeze = None

    def alive(self) -> list[tuple[Any, str]]:
        """Noted tensors that still live, with the referrer that they had when they were frozen."""
        found = [(note(), referrer) for note, referrer in self._noted]
        self._noted = [entry for entry in self._noted if entry[0]() is not None]
        return [(tensor, referrer) for tensor, referrer in found if tensor is not None]

    def _note(self) -> None:
        ordered = by_storage(live(self._device))
        referrers = describe_referrers(Ours(ordered[:TRACED]))
        for place, tensor in enumerate(ordered):
            referrer = referrers[place] if place < len(referrers) else ""
            self._noted.append((weakref.ref(tensor), referrer))


def _real(tensor: Any, device: str) -> bool:
    """Whether the tensor has memory of its own there: stand-ins of tracers claim a device and hold nothing."""
    try:
        return bool(tensor.device.type == device and _storage(tensor)[0])
    except (RuntimeError, NotImplementedError, AttributeError, TypeError):
        return False


def _storage(tensor: Any) -> tuple[int, int]:
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    size = storage.nbytes() if callable(getattr(storage, "nbytes", None)) else storage.size() * tensor.element_size()
    return int(storage.data_ptr()), int(size)
