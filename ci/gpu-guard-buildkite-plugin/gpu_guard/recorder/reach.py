"""Which objects can be reached from a value, without wandering through modules and classes into everything else."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType

LIMIT = 400_000
"""Objects looked at; an engine has some hundred thousand, and a walk must not take seconds."""

_WALLS = (type, ModuleType, CodeType, FrameType, BuiltinFunctionType, str, bytes, int, float)


def reachable(roots: Iterable[object], wanted: type, limit: int = LIMIT) -> list[object]:
    """Every instance of `wanted` below `roots`, each once, frozen ones included (`gc.freeze` hides none here)."""
    found: list[object] = []
    waiting = list(roots)
    seen: set[int] = set()
    while waiting and len(seen) < limit:
        here = waiting.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        kind = type(here)
        if issubclass(kind, _WALLS):
            continue
        if issubclass(kind, wanted):
            found.append(here)
        waiting.extend(_below(here))
    return found


def _below(here: object) -> list[object]:
    if isinstance(here, FunctionType):  # its globals are the module: a wall; what it closes over is its own
        return [*(here.__closure__ or ()), *(here.__defaults__ or ())]
    return gc.get_referents(here)
