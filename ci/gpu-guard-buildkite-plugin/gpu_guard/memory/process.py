"""What the kernel says of a process: its name, its parent, the environment that it was started with."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")
_MOST_NAME = 100  # characters: a title can be as long as a command line
_MOST_ANCESTORS = 64  # a chain of parents longer than this is a loop made by reused numbers


def name_of(pid: int) -> str:
    """The title that the process gave itself (`VLLM::EngineCore`), else its program's file name; empty once gone."""
    line = _read(pid, "cmdline").split(b"\0", 1)[0].decode(errors="replace").strip()
    if line.startswith("/"):
        line = line.rpartition("/")[2]
    return line[:_MOST_NAME] or _read(pid, "comm").decode(errors="replace").strip()


def parent_of(pid: int) -> int:
    """The parent's pid; 0 where there is none or the process is gone."""
    fields = _stat(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def session_of(pid: int) -> int:
    """The pid of the session's first process, which children keep when their parent dies; 0 once gone."""
    fields = _stat(pid)
    return int(fields[3]) if len(fields) > 3 else 0


def started(pid: int) -> int:
    """When a process began, in clock ticks since the machine did; 0 once gone. With the pid it names one process."""
    fields = _stat(pid)
    return int(fields[19]) if len(fields) > 19 else 0


def is_alive(pid: int) -> bool:
    """Whether a process runs or may run again; a zombie does not."""
    fields = _stat(pid)
    return len(fields) > 0 and fields[0] not in (b"Z", b"X")


def environment_of(pid: int) -> dict[str, str]:
    """What a process was started with; empty where it is gone or another user's."""
    pairs = (entry.decode(errors="replace").partition("=") for entry in _read(pid, "environ").split(b"\0"))
    return {name: value for name, separator, value in pairs if separator}


def arguments_of(pid: int) -> list[str]:
    """Its command line, as far as it did not write its title over it."""
    return [word.decode(errors="replace") for word in _read(pid, "cmdline").split(b"\0") if word]


def cgroups_of(pid: int) -> str:
    """The control groups of a process, a line each: the id of its container is among their names."""
    return _read(pid, "cgroup").decode(errors="replace")


def namespace_of(pid: int) -> str:
    """Which numbers its pid is one of; empty where that is not ours to see."""
    try:
        return str((_PROC / str(pid) / "ns" / "pid").readlink())
    except OSError:
        return ""


def is_mine(pid: int) -> bool:
    """Whether a process runs as this user."""
    try:
        return (_PROC / str(pid)).stat().st_uid == os.getuid()
    except OSError:
        return False


def every_pid() -> list[int]:
    """Each process that is seen from here; none where the kernel's files are not there."""
    try:
        return sorted(int(folder.name) for folder in _PROC.iterdir() if folder.name.isdecimal())
    except OSError:
        return []


def ancestors(pid: int) -> list[int]:
    """Parent, grandparent and so on, as things stand."""
    found: list[int] = []
    while len(found) < _MOST_ANCESTORS:
        pid = parent_of(pid)
        if pid <= 0 or pid in found:
            break
        found.append(pid)
    return found


def descends(pid: int, ancestor: int) -> bool:
    """Whether `ancestor` is among the parents of `pid`, as things stand."""
    return ancestor in ancestors(pid)


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


def _stat(pid: int) -> list[bytes]:
    """The fields of proc(5) from the third on: the second is a name in brackets, which may hold brackets and blanks."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _read(pid: int, file: str) -> bytes:
    try:
        return (_PROC / str(pid) / file).read_bytes()
    except OSError:  # gone, or not ours to look at
        return b""
