"""On an xdist worker: attempts ride to the controller on whatever report is sent next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import pytest

from .attempts import Attempt, Tracker
from .parcel import Done, Line, parcel_of

KEY = "gpu_guard"
"""Where leftovers lie in a worker's output at its end."""


class Outbox:
    """Finished attempts on their way. `opening` adds what is measured when an attempt starts.

    `draft`: attempts stay open past their last report for one more memory sample, and travel unfinished meanwhile.
    """

    def __init__(self, config: pytest.Config, tracker: Tracker, opening: Optional[Callable[[], Line]]) -> None:
        self._config: Any = config
        self._tracker = tracker
        self._opening = opening
        self._waiting: list[Done] = []
        self._announced: Attempt | None = None

    def post(self, done: Done) -> None:
        """Take a finished attempt."""
        self._waiting.append(done)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._waiting:
            parcel_of(report)["done"] = self._waiting
            self._waiting = []
        attempt = self._tracker.open
        if attempt is None:
            return
        if attempt is not self._announced and not attempt.torn_down:
            self._announced = attempt
            parcel_of(report)["opening"] = {
                **attempt.opening(),
                **(self._opening() if self._opening is not None else {}),
            }
        if attempt.torn_down:
            line = attempt.record()
            if line is not None:
                parcel_of(report)["draft"] = line

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        if self._waiting:
            self._config.workeroutput[KEY] = self._waiting
