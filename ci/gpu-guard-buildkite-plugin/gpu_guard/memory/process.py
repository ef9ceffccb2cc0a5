"""What the kernel says of a process: its name, its parent, the environment that it was started with."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")
_MOST_ANCESTORS = 64  # a chain of parents longer than this is a loop made by reused numbers


def name_of(pid: int) -> str:
    """The title that the process gave itself (`VLLM::EngineCore`), else its program's file name; empty once gone."""
    line = _read(pid, "cmdline").split(b"\0", 1)[0].decode(errors="replace").strip()
    if line.startswith("/"):
        line = line.rpartition("/")[2]
    return line or _read(pid, "comm").decode(errors="replace").strip()


def parent_of(pid: int) -> int:
    """The parent's pid; 0 where there is none or the process is gone."""
    # The second field is the name in brackets and may itself hold brackets and blanks.
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0


def descends(pid: int, ancestor: int) -> bool:
    """Whether `ancestor` is among the parents of `pid`, as things stand."""
    for _ in range(_MOST_ANCESTORS):
        pid = parent_of(pid)
        if pid == ancestor:
            return True
        if pid <= 1:
            return False
    return False


def started_with(pid: int, name: str, value: str) -> bool:
    """Whether the process was started with this environment variable; it outlives the death of the parent."""
    return f"{name}={value}".encode() in _read(pid, "environ").split(b"\0")


class Family:
    """Processes that this one, or one of its children, started, orphans included.

    A child that was only forked has no mark in its environment; it is known by its parents while they live, and
    remembered after.
    """

    def __init__(self, variable: str, value: str) -> None:
        self._mark = (variable, value)
        self._known: set[int] = set()

    def owns(self, pid: int) -> bool:
        """Whether `pid` is of this family; this very process is not its own child."""
        here = os.getpid()
        if pid == here:
            return False
        if pid in self._known or descends(pid, here) or started_with(pid, *self._mark):
            self._known.add(pid)
            return True
        return False

    def forget_dead(self, alive: set[int]) -> None:
        """Numbers are used again: a pid that holds nothing any more is a stranger when it comes back."""
        self._known &= alive


def _read(pid: int, file: str) -> bytes:
    try:
        return (_PROC / str(pid) / file).read_bytes()
    except OSError:  # gone, or not ours to look at
        return b""
