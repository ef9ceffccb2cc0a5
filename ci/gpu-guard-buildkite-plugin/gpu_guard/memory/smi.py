"""`nvidia-smi`, started once and kept: it prints every device again and again, and a thread keeps the newest lines.

A start costs 25 ms or more, far too much for each test; a line that is at most one interval old costs nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from .reading import Device, DeviceReading, Holder, Reading
from .visible import Candidate, nvidia_visible, order_is_unsure

INTERVAL = 0.2
"""Seconds between two lines of one device."""

PATIENCE = 10.0
"""Seconds for the first line: a driver that has to wake up takes a few."""

SILENT = f"nvidia-smi says nothing within {PATIENCE:.0f} s"
_KEPT = 3000  # rows of a device, ten minutes: the beginning of a test is looked up at its end
_MIB = 2**20
_NUMBER = re.compile(r"[0-9]{1,9}")  # of MiB that is a PiB: more is no figure of a card
FORMAT = "--format=csv,noheader,nounits"
_FIELDS = "index,uuid,name,memory.total,memory.used,memory.free"
QUERIES = (f"{_FIELDS},memory.reserved", _FIELDS)  # older drivers know no `memory.reserved` and refuse the query


class SmiUnusableError(Exception):
    """There is no nvidia-smi here, or it shows no device; `hangs` tells of one that is there and says nothing."""

    def __init__(self, words: str, *, hangs: bool = False) -> None:
        super().__init__(words)
        self.hangs = hangs


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
        self._program = find_program(environ)
        self._owner = os.getpid()
        self._feed = _first_working(self._program)
        rows = {row.candidate: row for row in self._feed.newest()}
        self.seen = len(rows)
        self.order_is_unsure = order_is_unsure(list(rows), environ)
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
        listed = list_holders(self._program) if careful else None
        return Reading(
            self._feed.oldest(),
            tuple(
                rows[index].reading._replace(
                    holders=None if listed is None else tuple(listed.get(rows[index].candidate.uuid, ()))
                )
                for index in self._shown
            ),
        )

    def earliest(self, since: float) -> Reading | None:
        """The first lines after a moment, if they have come: what a quick test began with."""
        rows = [self._feed.first(index, since) for index in self._shown] if os.getpid() == self._owner else []
        if not rows or any(row is None for row in rows):
            return None
        return Reading(max(row[0] for row in rows if row), tuple(row[1].reading for row in rows if row))

    def close(self) -> None:
        """End nvidia-smi. Were this session killed, its next line would end it: nobody reads any more."""
        if os.getpid() == self._owner:
            self._feed.close()


class _Feed:
    """One nvidia-smi in its loop, and the newest row of each device."""

    def __init__(self, program: str, query: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # the program found on PATH, fixed arguments
            [program, f"--query-gpu={query}", FORMAT, f"--loop-ms={INTERVAL * 1000:.0f}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, errors="replace",
        )  # fmt: skip
        self._rows: dict[int, deque[tuple[float, Row]]] = {}
        self._news = threading.Condition()
        self.alive = True
        self._thread = threading.Thread(target=self._collect, name="gpu-guard nvidia-smi", daemon=True)
        self._thread.start()

    def newest(self) -> list[Row]:
        with self._news:
            return [rows[-1][1] for rows in self._rows.values()]

    def oldest(self) -> float:
        """When the oldest of the newest rows came: the moment that a reading can vouch for."""
        with self._news:
            return min(rows[-1][0] for rows in self._rows.values())

    def first(self, index: int, since: float) -> tuple[float, Row] | None:
        """The first row of a device after a moment, as far back as rows are kept."""
        with self._news:
            return next((entry for entry in self._rows[index] if entry[0] >= since), None)

    def wait(self, since: float, patience: float) -> bool:
        """Wait until every device was printed after `since`; False where nvidia-smi ends first, or falls silent."""
        with self._news:
            self._news.wait_for(lambda: not self.alive or self._fresh(since), patience)
            return self._fresh(since)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._thread.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _fresh(self, since: float) -> bool:
        return bool(self._rows) and all(rows[-1][0] >= since for rows in self._rows.values())

    def _collect(self) -> None:
        for line in self._process.stdout or ():
            row = parse_row(line)
            if row is not None:
                with self._news:
                    rows = self._rows.setdefault(row.candidate.index, deque(maxlen=_KEPT))
                    rows.append((time.time(), row))
                    self._news.notify_all()
        with self._news:
            self.alive = False
            self._news.notify_all()


def find_program(environ: Mapping[str, str]) -> str:
    """The path of nvidia-smi. Raise SmiUnusableError where it is absent."""
    program = shutil.which("nvidia-smi", path=environ.get("PATH"))
    if program is None:
        raise SmiUnusableError("nvidia-smi is not on PATH")
    return program


def _first_working(program: str) -> _Feed:
    for query in QUERIES:
        feed = _Feed(program, query)
        if feed.wait(0.0, PATIENCE):
            feed.wait(time.time(), 10 * INTERVAL)  # the second round: by now every device was printed once
            return feed
        refused = not feed.alive  # one that hangs would hang again
        feed.close()
        if not refused:
            raise SmiUnusableError(SILENT, hangs=True)
    raise SmiUnusableError("nvidia-smi shows no device")


def list_holders(program: str) -> dict[str, list[Holder]] | None:
    """Processes by device, from one more nvidia-smi: worth its time only where memory did not come back."""
    try:
        asked = subprocess.run(  # noqa: S603  # the program found on PATH, fixed arguments
            [program, "--query-compute-apps=gpu_uuid,pid,used_memory,process_name", FORMAT],
            capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    found: dict[str, list[Holder]] = {}
    for line in asked.stdout.splitlines():
        uuid, pid, size, name = (field.strip() for field in (line + ",,,").split(",", 3))
        if _NUMBER.fullmatch(pid):
            name = name.rstrip(",").rpartition("/")[2]
            held = int(size) * _MIB if _NUMBER.fullmatch(size) else None
            found.setdefault(uuid, []).append(Holder(int(pid), name, held))
    return found


def parse_row(line: str) -> Row | None:
    """One device from one line of comma-separated values; None for anything else that nvidia-smi prints.

    A GPU that is cut into slices has no memory figures of its own and gives None.
    """
    fields = [field.strip() for field in line.split(",")]
    figures = fields[3:]
    if len(figures) not in (3, 4) or not all(map(_NUMBER.fullmatch, (fields[0], *figures))):
        return None
    total, used, free, *reserved = (int(figure) * _MIB for figure in figures)
    total -= sum(reserved)
    if total <= 0:
        return None
    return Row(Candidate(int(fields[0]), fields[1], name=fields[2]), fields[2], DeviceReading(free, total, used, None))
