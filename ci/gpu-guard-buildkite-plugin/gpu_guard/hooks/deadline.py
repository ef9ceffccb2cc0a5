"""Ends a hook that is held up. A call into a driver that hangs cannot be broken off, only be left behind."""

from __future__ import annotations

import os
import threading

from .log import say


def end_after(seconds: float, status: int) -> threading.Timer:
    """End this process with `status` unless the timer is cancelled before; the thread that hangs need not help."""
    timer = threading.Timer(seconds, _end, (seconds, status))
    timer.daemon = True
    timer.start()
    return timer


def _end(seconds: float, status: int) -> None:
    say(f"no end after {seconds:.0f} s: the GPU driver, docker or the agent does not answer")
    os._exit(status)
