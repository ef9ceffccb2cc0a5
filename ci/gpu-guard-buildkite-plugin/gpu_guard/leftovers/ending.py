"""Ends processes: asks first, then insists. Never another one that got the same number since."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from gpu_guard.memory import process

from .owner import Owned

PATIENCE = 10.0
"""Seconds between SIGTERM and SIGKILL: an orphaned engine was seen to give its memory back after 2.7 s."""

_AFTERWARDS = 5.0  # seconds for the kernel to bury what was killed


def end(those: Sequence[Owned], patience: float = PATIENCE) -> list[Owned]:
    """End them all; the ones that are still there after it are given back."""
    with ExitStack() as open_files:
        grips = [grip for grip in map(_Grip, those) if grip.hold(open_files)]
        for kind, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, _AFTERWARDS)):
            for grip in grips:
                grip.send(kind)
            grips = _wait(grips, seconds)
        return [grip.whom for grip in grips]


class _Grip:
    """A hold on one process. A pidfd means that very process for ever; without it the start time is compared."""

    def __init__(self, whom: Owned) -> None:
        self.whom = whom
        self._file = -1

    def hold(self, open_files: ExitStack) -> bool:
        """Take hold; False where the process is gone, or its number is another's by now."""
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):  # an old kernel, or already gone
                self._file = os.pidfd_open(self.whom.pid)
                open_files.callback(os.close, self._file)
        return self._is_it()

    def send(self, kind: signal.Signals) -> None:
        if not self._is_it():
            return
        with suppress(ProcessLookupError, PermissionError):  # what is not ours to end is told of afterwards
            if self._file >= 0:
                signal.pidfd_send_signal(self._file, kind)
            else:
                os.kill(self.whom.pid, kind)

    def gone(self) -> bool:
        if self._file >= 0:
            return bool(select.select([self._file], [], [], 0)[0])  # readable once it ended
        return not self._is_it()

    def _is_it(self) -> bool:
        return process.started(self.whom.pid) == self.whom.started and process.is_alive(self.whom.pid)


def _wait(grips: list[_Grip], seconds: float) -> list[_Grip]:
    until = time.monotonic() + seconds
    while True:
        grips = [grip for grip in grips if not grip.gone()]
        if not grips or time.monotonic() >= until:
            return grips
        time.sleep(0.05)
