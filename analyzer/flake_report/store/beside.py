"""A store that answers in a thread of its own, while something else is done with what it said before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from time import sleep
from typing import Any, ParamSpec, TypeVar

from .store import Store

_Args = ParamSpec("_Args")
_Answer = TypeVar("_Answer")

_PAUSE = 0.02
"""Seconds between two tries to stop what runs: one that comes between two statements stops neither."""


class Beside:
    """Asks the questions that it is given, one after the other."""

    def __init__(self, store: Store, thread: ThreadPoolExecutor) -> None:
        """Use `beside`, which waits for the end, or sees to one."""
        self._store = store
        self._thread = thread
        self._asked: list[Future[Any]] = []

    def ask(self, question: Callable[_Args, _Answer], *args: _Args.args, **kwargs: _Args.kwargs) -> Future[_Answer]:
        """The answer to come of a function that asks the store."""
        answer = self._thread.submit(question, *args, **kwargs)
        self._asked.append(answer)
        return answer

    def stop(self) -> None:
        """Answer no more, and stop what is being answered: nobody waits for it."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        while not all(answer.done() for answer in self._asked):
            self._store.interrupt()
            sleep(_PAUSE)


@contextmanager
def beside(store: Store) -> Iterator[Beside]:
    """What asks the store; after it all is answered and kept. Whoever leaves by an error need not wait for that."""
    with store.writing_beside(), ThreadPoolExecutor(max_workers=1) as thread:
        asking = Beside(store, thread)
        try:
            yield asking
        except BaseException:
            asking.stop()
            raise
