"""Who holds an object, in words: `test_x.KEPT[0]`, `test_x.MODEL → Linear.weight`, `a local of test_a`."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Sequence
from operator import is_
from types import CellType, FrameType
from typing import Any

_STEPS = 6
"""Containers climbed from a tensor to a name; each step scans the heap once for all tensors together."""


class Ours(list):  # type: ignore[type-arg]  # list[Any] is no class to derive from in Python 3.9
    """A list of the recorder's own: that it holds something says nothing."""


def describe_referrers(targets: Sequence[object]) -> list[str]:
    """One description for each target, empty where nothing refers to it but lists of the recorder's own (`Ours`)."""
    chains = [_Chain(target) for target in targets]
    for _ in range(_STEPS):
        climbing = [chain for chain in chains if not chain.ended]
        if not climbing:
            break
        ends = Ours(chain.end for chain in climbing)
        holders = Ours(holder for holder in gc.get_referrers(*ends) if not _is_call(holder, ends))
        # Choose for all before describing any: to look at an object's attributes changes what refers to what.
        chosen = Ours(chain.best_of(holders) for chain in climbing)
        for chain, best in zip(climbing, chosen):
            chain.climb(best)
    return [chain.text for chain in chains]


def _is_call(holder: object, ends: Ours) -> bool:
    """Whether this is the call's own tuple of arguments, which Python 3.13 finds too; nobody else refers to it."""
    same = type(holder) is tuple and len(holder) == len(ends) and all(map(is_, holder, ends))
    return same and sys.getrefcount(holder) <= 4  # the list of holders, two names, and the question itself


class _Chain:
    """The way from one object up to something that has a name."""

    __slots__ = ("_seen", "end", "ended", "text")  # a dictionary of its own would refer to what it describes

    def __init__(self, target: object) -> None:
        self.end: object = target
        self.text = ""
        self.ended = False
        self._seen = {id(target)}

    def best_of(self, holders: Ours) -> object:
        """The holder that says most; None where none is left."""
        return min((holder for holder in holders if self._holds(holder)), key=_rank, default=None)

    def climb(self, holder: object) -> None:
        """Go one step up."""
        if holder is None:
            self.ended = True
            return
        attributes = _attributes(holder)
        if attributes is self.end:
            self.text = re.sub(r"^\['(\w+)'\]", r".\1", self.text)
        self._seen |= {id(holder), id(attributes)}
        step = _step(holder, self.end)
        self.text = step + (" → " if self.text[:1] not in ("", "[", ".") else "") + self.text
        self.ended = isinstance(holder, (FrameType, type)) or _is_module_dict(holder)
        self.end = holder

    def _holds(self, holder: object) -> bool:
        if id(holder) in self._seen or isinstance(holder, (_Chain, Ours)):
            return False
        if isinstance(holder, FrameType) and str(holder.f_globals.get("__name__", "")).startswith(__package__):
            return False
        return any(item is self.end for item in gc.get_referents(holder))


def _rank(holder: object) -> int:
    """Names first: a module's variable, a running function, a class; then objects; then nameless containers."""
    if _is_module_dict(holder):
        return 0
    if isinstance(holder, (FrameType, type)):
        return 1
    return 3 if isinstance(holder, (dict, list, tuple, set, CellType)) else 2


def _step(holder: object, held: object) -> str:
    if isinstance(holder, FrameType):
        # Which local it is stays unsaid: before Python 3.13 looking into a frame leaves a second reference there.
        kept = ", kept by the traceback of its failure" if holder in _failed_frames() else ""
        return f"a local of {holder.f_code.co_name}{kept}"
    if isinstance(holder, dict):
        key = next((key for key, value in list(dict.items(holder)) if value is held), None)
        return f"{holder['__name__']}.{key}" if _is_module_dict(holder) else f"[{key!r}]"
    if isinstance(holder, (list, tuple)):
        return f"[{next((place for place, value in enumerate(holder) if value is held), '?')}]"
    if isinstance(holder, CellType):
        return "a closure"
    name = holder.__name__ if isinstance(holder, type) else type(holder).__name__
    return name + _attribute(holder, held)


def _failed_frames() -> list[FrameType]:
    """Frames of the last failure: pytest leaves them in `sys.last_traceback` until the next test is called."""
    traceback = getattr(sys, "last_traceback", None)
    found = []
    while traceback is not None:
        found.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return found


def _attribute(holder: object, held: object) -> str:
    values = _attributes(holder)
    if values is held or values is None:
        return ""  # the step below named the key, or there is none
    return next((f".{key}" for key, value in list(values.items()) if value is held), "")


def _attributes(holder: object) -> Any:
    """An object's own dictionary, past what a proxy would answer; None where it has none."""
    try:
        return object.__getattribute__(holder, "__dict__")
    except AttributeError:
        return None


def _is_module_dict(holder: object) -> bool:
    return isinstance(holder, dict) and "__name__" in holder and "__spec__" in holder
