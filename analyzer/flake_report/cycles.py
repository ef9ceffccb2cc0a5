"""When Python looks for objects that only hold each other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 1_000_000
"""More objects than a commit's worth of attempts are, so that those are not gone over again and again."""


@contextmanager
def seldom_searched() -> Iterator[None]:
    """For reading many results, which stay until they are stored and hold no cycles: a quarter of the time.

    Cycles of whatever else runs meanwhile are still found, later.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(SELDOM, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
