"""Where jobs ran, and what can be said of the places."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from .rate import Interval

if TYPE_CHECKING:  # the light install has no numpy
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of texts that repeat: row i has the text `names[codes[i]]`. Names are all different, in any order.

    `codes` has one dimension. Some name may be that of no row.
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JobPlaces:
    """Where jobs ran that have results or were lost, by columns: all have one dimension, and a row a job.

    `order` is that of the job's build. `machine` is the host, or the agent's name where no host is known; empty where
    neither is. `retry`: another job was tried before it. Trouble is any of three: `own`, a test failed first by itself,
    outside breakages; `victim`, the environment failed one; `lost`, the machine or its agent ended the job, and nobody
    on purpose.
    """

    order: NDArray[np.int32]
    step: Coded
    queue: Coded
    machine: Coded
    command: Coded
    retry: NDArray[np.bool_]
    own: NDArray[np.bool_]
    victim: NDArray[np.bool_]
    lost: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Failures of tests on one machine that ran on another at the same commit: one a test and commit.

    `passed` of the `tried` ones passed on another machine.
    """

    machine: str
    tried: int
    passed: int


class PlaceKind(StrEnum):
    """What a row of places joins."""

    QUEUE = "queue"
    GPU = "gpu"
    MACHINE = "machine"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class PlaceRate:
    """First jobs (no retries) in one place, and how many of them had trouble.

    Trouble is any of three: `own` jobs had a test that failed first by itself, outside breakages; `victims` had one
    that the environment failed; `lost` did not end by themselves. Of a machine `p_value` says how likely so much
    trouble, or more, would be if all machines of its steps and queues were alike, corrected for having looked at all of
    them; 1 where too little ran on it. `elsewhere` is None where nothing that failed on the machine ran on another.
    """

    kind: PlaceKind
    name: str
    trouble: Interval
    own: int
    victims: int
    lost: int
    p_value: float | None = None
    elsewhere: Elsewhere | None = None
