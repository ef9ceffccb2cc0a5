"""Waits until enough memory is free and stays so, up to a limit, and says meanwhile who holds it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Optional

from .budget import GIB, MIB, Answer, Verdict, Want, judge
from .probe import Snapshot

INTERVAL = 1.0
"""Seconds between two readings."""

STEADY = 3
"""So many readings in a row must do: memory that an ending process gives back comes in steps."""

TOLERANCE = 256 * MIB
"""Free memory that fell by more since the reading before is not steady: somebody is filling the card."""

PROGRESS = 15.0
"""Seconds between two lines, unless something changed."""

_CHANGE = GIB  # a change of free memory that is worth a line at once


class Time(NamedTuple):
    """The clock, in seconds, and how to let it run."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


REAL_TIME = Time()


class Waited(NamedTuple):
    """The last answer and its snapshot (None where no reading came), and how long it took in seconds."""

    answer: Optional[Answer]
    snapshot: Optional[Snapshot]
    seconds: float


def until_free(
    look: Callable[[], Optional[Snapshot]],
    want: Want,
    *,
    limit: float,
    say: Callable[[str], None],
    time: Time = REAL_TIME,
) -> Waited:
    """Look again and again. What fits at once needs no second look, and what never will is no reason to wait."""
    started = time.clock()
    progress = _Progress(say, limit)
    steady: list[Snapshot] = []
    while True:
        snapshot = look()
        answer = None if snapshot is None else judge(snapshot.cards(), want)
        waited = time.clock() - started
        done = Waited(answer, snapshot, waited)
        if answer is not None and answer.verdict is Verdict.REFUSE:
            return done
        if snapshot is not None and answer is not None and answer.verdict is not Verdict.WAIT:
            steady = [*steady, snapshot] if steady and _as_free(steady[-1], snapshot) else [snapshot]
            first = not progress.told and answer.verdict is Verdict.USE
            if first or limit <= 0 or len(steady) >= STEADY:
                return done
        else:
            steady = []
        if waited >= limit:
            return done
        progress.tell(done)
        time.sleep(min(INTERVAL, max(0.0, limit - waited)))


class _Progress:
    """Says how things stand now and then, and at once where they changed."""

    def __init__(self, say: Callable[[str], None], limit: float) -> None:
        self.told = False
        self._say = say
        self._limit = limit
        self._at = 0.0
        self._free: tuple[int, ...] = ()

    def tell(self, now: Waited) -> None:
        free = () if now.snapshot is None else tuple(card.free for card in now.snapshot.cards())
        if self.told and now.seconds - self._at < PROGRESS and not _changed(self._free, free):
            return
        self.told, self._at, self._free = True, now.seconds, free
        words = "the driver gives no reading" if now.answer is None else now.answer.sentence
        self._say(f"waiting {now.seconds:.0f} of {self._limit:.0f} s: {words}")
        for sentence in now.snapshot.holders() if now.snapshot is not None else ():
            self._say(f"  {sentence}")


def _as_free(before: Snapshot, after: Snapshot) -> bool:
    return all(now.free >= then.free - TOLERANCE for then, now in zip(before.cards(), after.cards()))


def _changed(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return len(before) != len(after) or any(abs(now - then) >= _CHANGE for then, now in zip(before, after))
