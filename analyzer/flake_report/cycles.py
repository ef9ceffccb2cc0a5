"""Python's search for objects that only hold each other, put off while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 1_000_000
"""More objects than a commit's worth of attempts are, so that those are not gone over again and again."""


@contextmanager
def seldom_searched() -> Iterator[None]:
    """Python seldom searches for cycles.

    Results stay until they are stored or shown and hold no cycles, but searching them all, again and again, is a
    quarter of the time that ingesting takes, and a fifth of a large report's. Cycles of whatever else runs meanwhile
    are found later.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(SELDOM, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
