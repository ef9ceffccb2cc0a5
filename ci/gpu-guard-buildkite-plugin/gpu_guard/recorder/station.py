"""All that watches tests in one process: hooks, memory, tuner. The same in a plain session and in an xdist worker."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Optional

import pytest

from gpu_guard.memory import Meter
from gpu_guard.memory.process import Family

from .attempts import Tracker
from .gpuwatch import GpuWatch
from .options import Options
from .parcel import Done, Line
from .running import Running
from .tuner import Tuner

OWNER = "GPU_GUARD_OWNER"
"""In the environment of everything that tests start: tells whose it is, and a pytest inside a test to stay quiet."""


class Station:
    """Watches from `start` to `stop`. Without a visible device no memory is read, and nothing is paid for it."""

    def __init__(self, options: Options, tracker: Tracker, meter: Meter, owner: str) -> None:
        self.gpu: Optional[GpuWatch] = None
        self._tracker = tracker
        self._meter = meter
        self._owner = owner
        self._outer_owner = os.environ.get(OWNER)
        if meter.devices:
            self.gpu = GpuWatch(meter, Family(OWNER, owner), clean=options.clean)
        self._running: Running | None = None
        self._tuner = Tuner(self.gpu.free, self._lowered) if self.gpu is not None and options.tune else None

    def start(self, config: pytest.Config, post: Callable[[Done], None]) -> None:
        """Begin; finished attempts go to `post`."""
        os.environ[OWNER] = self._owner
        self._running = Running(self._tracker, self.gpu, post)
        config.pluginmanager.register(self._running, "gpu-guard running")
        if self.gpu is not None:
            self.gpu.start()
        if self._tuner is not None:
            self._tuner.install()

    def stop(self) -> None:
        """Post what is open and leave the process as it was."""
        if self._running is not None:
            self._running.close()
        if self._tuner is not None:
            self._tuner.uninstall()
        if self.gpu is not None:
            self.gpu.stop()
        else:
            self._meter.close()
        if self._outer_owner is None:
            os.environ.pop(OWNER, None)
        else:
            os.environ[OWNER] = self._outer_owner

    def _lowered(self, tuned: Line) -> None:
        if self._running is not None:
            self._running.lowered(tuned)
