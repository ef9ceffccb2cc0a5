"""What the end of a session says: who left GPU memory, and how many tests after it had to do with less."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Optional

from .leaks import Leak
from .parcel import Line
from .tensors import Listed

_GIB = 2**30
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Passage(NamedTuple):
    """What is kept of an attempt for the end: who, when in which process, how much was free, what it left."""

    nodeid: str
    pid: int
    position: int
    free: tuple[int, ...]
    leak: int
    left_in: tuple[str, ...]

    @classmethod
    def of(cls, line: Line, left_in: Iterable[str]) -> Passage:
        """From a line of the attempts file."""
        return cls(
            nodeid=line["nodeid"],
            pid=line.get("pid", 0),
            position=line.get("position", 0),
            free=tuple(device.get("free_before", 0) for device in line.get("memory", [])),
            leak=line.get("leak", {}).get("bytes", 0),
            left_in=tuple(left_in),
        )


def left_in(leak: Optional[Leak], line: Line) -> list[str]:
    """What holds a leak, in words: processes by name, then the largest tensor by what refers to it."""
    if leak is None:
        return []
    names = {holder["pid"]: holder.get("name", "") for holder in line.get("holders", [])}
    words = [f"{names.get(pid) or 'process'} (pid {pid})" for pid in leak.children]
    if leak.unlisted:
        words.append("a process that the driver does not list")
    if leak.tensors:
        words.append(_tensor(leak.tensors[0]) + (" and others" if len(leak.tensors) > 1 else ""))
    return words


def _tensor(tensor: Listed) -> str:
    """`test_x.KEPT[0] (4.9 GiB, 5,000×1,048,576 uint8)`."""
    shape = "×".join(f"{length:,}" for length in tensor.shape)
    kind = tensor.dtype.replace("torch.", "", 1)
    return f"{tensor.referrer or 'a tensor'} ({gib(tensor.size)}, {shape} {kind})"


def leak_lines(passages: Sequence[Passage]) -> list[str]:
    """One sentence for each leak, the largest first."""
    ordered = sorted(passages, key=lambda passage: (passage.pid, passage.position))
    found = []
    for place, passage in enumerate(ordered):
        if passage.leak:
            after = [one for one in ordered[place + 1 :] if one.pid == passage.pid]
            found.append(
                (passage.leak, f"{passage.nodeid} left {gib(passage.leak)}{_in(passage)}{_hurt(passage, after)}")
            )
    return [sentence for _, sentence in sorted(found, key=lambda entry: -entry[0])]


def gib(size: int) -> str:
    """Bytes for people."""
    return f"{size / _GIB:.1f} GiB" if size >= _GIB else f"{size / 2**20:.0f} MiB"


def _in(passage: Passage) -> str:
    return f" in {', '.join(passage.left_in)}" if passage.left_in else ""


def _hurt(passage: Passage, after: Sequence[Passage]) -> str:
    """How many tests in a row, from the next one, started with less on some device.

    Less may be much smaller than the leak: torch's cache paid a part of it, which no other process could use before.
    """
    missing = []
    for one in after:
        less = max((then - now for then, now in zip(passage.free, one.free)), default=0)
        if less < passage.leak / 10:
            break
        missing.append(less)
    if not missing:
        return "" if not after else "; it was back when the next test started"
    count = len(missing)
    number = _WORDS[count] if count < len(_WORDS) else str(count)
    who = "the next test" if count == 1 else f"the next {number} tests"
    return f"; {who} started with {gib(min(missing))} less"
