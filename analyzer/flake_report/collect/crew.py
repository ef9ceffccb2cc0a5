"""Threads that share out tasks: bounded in what waits, stopped by the first failure, which is raised again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from .transport import StoppedError


class Crew:
    """Use it in a `with` block, whose end waits until every task is done."""

    def __init__(self, size: int, most_waiting: int, stop: Callable[[], None]) -> None:
        """`stop` makes running tasks end early: each then raises `StoppedError`."""
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="collect")
        self._most = most_waiting
        self._stop = stop
        self._changed = threading.Condition()
        self._waiting = 0
        self._failure: BaseException | None = None

    def give(self, task: Callable[[], None]) -> None:
        """Hand over a task from outside; waits while too many wait already, and raises what made one of them fail."""
        with self._changed:
            while self._waiting >= self._most and self._failure is None:
                self._changed.wait()
        self._check()
        self.add(task)

    def add(self, task: Callable[[], None]) -> None:
        """Hand over a task from within another one; never waits, or all might wait for each other."""
        with self._changed:
            self._waiting += 1
        self._pool.submit(self._run, task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        try:
            with self._changed:
                while kind is None and self._waiting and self._failure is None:
                    self._changed.wait()
        except BaseException:  # ^C in the midst of waiting
            self._stop()
            raise
        finally:
            if kind is not None or self._failure is not None:
                self._stop()
            self._pool.shutdown(wait=True, cancel_futures=True)
        if kind is None:
            self._check()

    def _run(self, task: Callable[[], None]) -> None:
        failure: BaseException | None = None
        try:
            task()
        except StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001  # raised again where the crew is used
            failure = error
        with self._changed:
            self._waiting -= 1
            self._failure = self._failure or failure
            self._changed.notify_all()
        if failure is not None:
            self._stop()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
