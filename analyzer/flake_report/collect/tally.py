"""How far a collection is: counted by many threads, told to one person."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """What was done so far.

    `builds` were listed, `unchanged` of them needed no request of their own. `jobs` were kept, with so many `logs`,
    `artifacts` and `bytes` fetched; `missed` jobs could not be, and are tried again by the next collection.
    `back_to` is when the oldest build that is done was made. `waits` seconds for the rate limit began just now.
    """

    builds: int = 0
    unchanged: int = 0
    jobs: int = 0
    logs: int = 0
    artifacts: int = 0
    bytes: int = 0
    missed: int = 0
    requests: int = 0
    back_to: datetime | None = None
    waits: float = 0.0


class Tally:
    """Adds up, and tells after each addition."""

    def __init__(self, told: Callable[[Progress], None], requests: Callable[[], int]) -> None:
        """`requests` says how many went to the API so far."""
        self._told = told
        self._requests = requests
        self._lock = threading.Lock()
        self.so_far = Progress()

    def add(self, back_to: datetime | None = None, **counts: int) -> None:
        """Add to any of the numbers; `back_to` moves to older builds only."""
        with self._lock:
            now = self.so_far
            grown = {name: getattr(now, name) + count for name, count in counts.items()}
            known = [at for at in (now.back_to, back_to) if at is not None]
            self.so_far = replace(now, **grown, requests=self._requests(), back_to=min(known, default=None), waits=0.0)
            self._told(self.so_far)

    def wait(self, seconds: float) -> None:
        """Tell that nothing goes on for so long."""
        with self._lock:
            self._told(replace(self.so_far, waits=seconds))
