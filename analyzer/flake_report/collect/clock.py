"""Time and chance as arguments, so that what waits can be tested without waiting."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """`now` in seconds from any fixed point, `sleep` for seconds, `chance` a number from 0 up to 1."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
