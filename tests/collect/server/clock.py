"""A clock that nobody waits for."""

from __future__ import annotations

import threading

from flake_report.collect.clock import Clock


class FakeTime:
    """Sleeping moves it on at once; `slept` is the sum."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.slept = 0.0
        self._lock = threading.Lock()
        self.clock = Clock(now=lambda: self.at, sleep=self._sleep, chance=lambda: 0.5)

    def _sleep(self, seconds: float) -> None:
        with self._lock:
            self.at += seconds
            self.slept += seconds
