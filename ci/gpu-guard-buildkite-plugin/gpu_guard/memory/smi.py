"""`nvidia-smi`, started once and kept: it prints every device again and again, and a thread keeps the newest lines.

A start costs 25 ms or more, far too much for each test; a line that is at most one interval old costs nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from .reading import Device, DeviceReading, Holder, Reading
from .visible import Candidate, nvidia_visible

INTERVAL = 0.2
"""Seconds between two lines of one device."""

_PATIENCE = 10.0  # seconds for the first line: a driver that has to wake up takes a few
_MIB = 2**20
_FORMAT = "--format=csv,noheader,nounits"
_FIELDS = "index,uuid,name,memory.total,memory.used,memory.free"
_QUERIES = (f"{_FIELDS},memory.reserved", _FIELDS)  # older drivers know no `memory.reserved` and refuse the query


class SmiUnusableError(Exception):
    """There is no nvidia-smi here, or it shows no device."""


class Row(NamedTuple):
    """One printed line: a device with its memory."""

    candidate: Candidate
    name: str
    reading: DeviceReading


class SmiMeter:
    """Reads what the kept nvidia-smi printed last."""

    source = "nvidia-smi"

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Raise SmiUnusableError where nvidia-smi is absent or prints no device."""
        program = shutil.which("nvidia-smi", path=environ.get("PATH"))
        if program is None:
            raise SmiUnusableError("nvidia-smi is not on PATH")
        self._program = program
        self._owner = os.getpid()
        self._feed = _first_working(program)
        rows = {row.candidate: row for row in self._feed.newest()}
        visible = nvidia_visible(sorted(rows), environ)
        self._shown = [candidate.index for candidate in visible]
        self.devices = tuple(
            Device(place, item.uuid, rows[item].name, rows[item].reading.total) for place, item in enumerate(visible)
        )

    def read(self, *, careful: bool = False) -> Reading | None:
        """The newest lines; with `careful` only lines from after the call, and the processes with them."""
        if os.getpid() != self._owner:
            return None  # the thread that reads did not come along into a forked process
        if not self._feed.alive or (careful and not self._feed.wait(time.time(), 10 * INTERVAL)):
            return None
        rows = {row.candidate.index: row for row in self._feed.newest()}
        listed = _listed(self._program) if careful else None
        return Reading(
            self._feed.oldest(),
            tuple(
                rows[index].reading._replace(
                    holders=None if listed is None else tuple(listed.get(rows[index].candidate.uuid, ()))
                )
                for index in self._shown
            ),
        )

    def close(self) -> None:
        """End nvidia-smi. Were this session killed, its next line would end it: nobody reads any more."""
        if os.getpid() == self._owner:
            self._feed.close()


class _Feed:
    """One nvidia-smi in its loop, and the newest row of each device."""

    def __init__(self, program: str, query: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # the program found on PATH, fixed arguments
            [program, f"--query-gpu={query}", _FORMAT, f"--loop-ms={INTERVAL * 1000:.0f}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._rows: dict[int, tuple[float, Row]] = {}
        self._news = threading.Condition()
        self.alive = True
        threading.Thread(target=self._collect, name="gpu-guard nvidia-smi", daemon=True).start()

    def newest(self) -> list[Row]:
        with self._news:
            return [row for _, row in self._rows.values()]

    def oldest(self) -> float:
        """When the oldest of the newest rows came: the moment that a reading can vouch for."""
        with self._news:
            return min(at for at, _ in self._rows.values())

    def wait(self, since: float, patience: float) -> bool:
        """Wait until every device was printed after `since`; False where nvidia-smi ends first, or falls silent."""
        with self._news:
            self._news.wait_for(lambda: not self.alive or self._fresh(since), patience)
            return self._fresh(since)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _fresh(self, since: float) -> bool:
        return bool(self._rows) and all(at >= since for at, _ in self._rows.values())

    def _collect(self) -> None:
        for line in self._process.stdout or ():
            row = parse_row(line)
            if row is not None:
                with self._news:
                    self._rows[row.candidate.index] = (time.time(), row)
                    self._news.notify_all()
        with self._news:
            self.alive = False
            self._news.notify_all()


def _first_working(program: str) -> _Feed:
    for query in _QUERIES:
        feed = _Feed(program, query)
        if feed.wait(0.0, _PATIENCE):
            feed.wait(time.time(), 10 * INTERVAL)  # the second round: by now every device was printed once
            return feed
        feed.close()
    raise SmiUnusableError("nvidia-smi shows no device")


def _listed(program: str) -> dict[str, list[Holder]] | None:
    """Processes by device, from one more nvidia-smi: worth its time only where memory did not come back."""
    try:
        asked = subprocess.run(  # noqa: S603  # the program found on PATH, fixed arguments
            [program, "--query-compute-apps=gpu_uuid,pid,used_memory,process_name", _FORMAT],
            capture_output=True, text=True, timeout=_PATIENCE, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    found: dict[str, list[Holder]] = {}
    for line in asked.stdout.splitlines():
        uuid, pid, size, name = (field.strip() for field in (line + ",,,").split(",", 3))
        if pid.isdigit():
            name = name.rstrip(",").rpartition("/")[2]
            found.setdefault(uuid, []).append(Holder(int(pid), name, int(size) * _MIB if size.isdigit() else None))
    return found


def parse_row(line: str) -> Row | None:
    """One device from one line of comma-separated values; None for anything else that nvidia-smi prints.

    A GPU that is cut into slices has no memory figures of its own and gives None.
    """
    fields = [field.strip() for field in line.split(",")]
    figures = fields[3:]
    if len(figures) not in (3, 4) or not fields[0].isdigit() or not all(figure.isdigit() for figure in figures):
        return None
    total, used, free, *reserved = (int(figure) * _MIB for figure in figures)
    total -= sum(reserved)
    return Row(Candidate(int(fields[0]), fields[1]), fields[2], DeviceReading(free, total, used, None))
