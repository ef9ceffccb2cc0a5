"""What both fuzzers do: spoil bytes, hold a reader to its promises, and keep the input that breaks one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random


class BrokenPromiseError(AssertionError):
    """Something that the reader says of itself is not so."""


def promise(kept: bool, what: str) -> None:
    if not kept:
        raise BrokenPromiseError(what)


def spoilt(data: bytearray, times: int, spices: Sequence[bytes], rng: Random) -> bytes:
    """The data with bytes dropped, flipped and doubled, and spices thrown in, at random places."""
    for _ in range(times):
        place = rng.randrange(len(data) + 1)
        action = rng.randrange(4)
        if action == 0:
            data[place:place] = rng.choice(spices)
        elif action == 1:
            del data[place : place + rng.randint(1, 80)]
        elif action == 2 and place < len(data):
            data[place] = rng.randrange(256)
        else:
            data[place:place] = data[place : place + rng.randint(1, 200)]
    return bytes(data)


def until(
    seconds: float, seed: int, make: Callable[[Random], bytes], one_input: Callable[[bytes], None], kind: str
) -> int:
    """Make inputs until the time is up; one that breaks the reader is kept as `crash-<seed>-<number>.<kind>`."""
    rng = Random(seed)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = make(rng)
        try:
            one_input(data)
        except Exception:
            kept = Path(f"crash-{seed}-{number}.{kind}")
            kept.write_bytes(data)
            print(f"input {number} breaks the reader; it is kept as {kept}", file=sys.stderr)
            raise
        number += 1
    print(f"{number} inputs read, every promise kept")
    return 0
