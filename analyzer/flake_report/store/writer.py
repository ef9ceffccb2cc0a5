"""Work that is done beside other work, in order, and has been done at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

_MOST = 20
"""Things that may wait to be done: each holds in memory what it writes."""


class Writer:
    """Does what it is given, one thing after the other."""

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        """Use `writer`, which waits for the end."""
        self._thread = thread
        self._begun: deque[Future[None]] = deque()

    def add(self, write: Callable[[], None]) -> None:
        """Have this done when all that came before it is; where much waits, the first of it is waited for."""
        while len(self._begun) >= _MOST:
            self._begun.popleft().result()
        self._begun.append(self._thread.submit(write))

    def wait(self) -> None:
        """Wait until all is done; raises what a thing raised."""
        while self._begun:
            self._begun.popleft().result()


@contextmanager
def writer() -> Iterator[Writer]:
    """A writer whose work is all done afterwards."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        made = Writer(thread)
        yield made
        made.wait()
