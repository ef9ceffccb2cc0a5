"""What a failure is: signatures, their matches, and the causes that come of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from .memory import GIB, largest_utilization

Captured: TypeAlias = str | int | float


class Blame(StrEnum):
    """Whose fault a failure is."""

    GPU_MEMORY = "gpu-memory"
    GPU = "gpu"
    INFRA = "infra"
    DEPENDENCY = "dependency"
    AGENT = "agent"
    TEST = "test"
    CODE = "code"

    @property
    def environment(self) -> bool:
        """Whether a test that failed so is a victim: the failure says nothing of the test itself."""
        return self not in (Blame.TEST, Blame.CODE)


@dataclass(frozen=True, slots=True)
class Signature:
    """One row of the signature table; its place in the table is its priority.

    `title` says in a few plain words what happened ("too little free when the engine started"), `hint` what to do.
    `pattern` is a regular expression over clean text, its named groups are the captures. `wrapper` marks text
    that only reports that something else failed: never a cause while anything better is in sight. `weak` marks text
    that healthy jobs print as well, before they try again or go on. `example` is a line that this row, and no earlier
    one, matches; `source` says where that line was seen.
    """

    name: str
    title: str
    blame: Blame
    pattern: str
    hint: str
    example: str
    source: str
    wrapper: bool = False
    weak: bool = False


class Match(NamedTuple):
    """One place where a signature matched. `line` counts from 1, `offset` in bytes; captured numbers are numbers.

    `rank` is the row's place in its table, from 0: of two matches the lower one says more.
    """

    signature: Signature
    line: int
    offset: int
    text: str
    captures: Mapping[str, Captured]
    rank: int = 0


class DiagnosisKind(StrEnum):
    """What kept GPU memory from a program that asked for it.

    `SAME_PROCESS`: an earlier test in the same process left it. `OTHER_PROCESS`: another process holds it.
    `CO_TENANT`: a neighbour holds the same amount, build after build. `SHORTAGE`: nobody else is to blame, the setting
    or the test asks for more than the card has. `SLOW_RELEASE`: it came back by itself, and the next try passed.
    `CONTENTION`: somebody took memory while the engine measured, and the engine called it a wrong setting.
    `MISREAD`: the number itself is wrong. `UNDETERMINED`: the evidence does not tell.
    """

    SAME_PROCESS = "same-process"
    OTHER_PROCESS = "other-process"
    CO_TENANT = "co-tenant"
    SHORTAGE = "shortage"
    SLOW_RELEASE = "slow-release"
    CONTENTION = "contention"
    MISREAD = "misread"
    UNDETERMINED = "undetermined"


HELD = "held by "
"""How a diagnosis begins that says who holds the memory."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one GPU-memory event came of: `sentence` says so with its evidence, `advice` what to do.

    `evidence` are the single facts that it rests on, each with where it stands.
    """

    kind: DiagnosisKind
    sentence: str
    advice: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryPast:
    """What the builds before tell of a GPU-memory event: `sentence` says it all in words.

    `builds` had the same event (signature and test), the first and last of them by key and time. In `same_free` of
    them exactly as much was free. Of the jobs that had it `retried` were tried again; `recovered` of those passed,
    `failed_again` met it again.
    """

    sentence: str
    builds: int = 0
    first_build: str = ""
    first_at: datetime | None = None
    last_build: str = ""
    last_at: datetime | None = None
    same_free: int = 0
    retried: int = 0
    recovered: int = 0
    failed_again: int = 0


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the job, or one test in it, failed. `count` is how often the log prints the same event.

    A failure that is known only by what it says has a `fingerprint`, and its masked message for a title. `process` is
    the process of its own that told of it, such as `EngineCore pid=1306`; empty where none is named. Only GPU-memory
    events have a `diagnosis`, and a `past` where a store was asked.
    """

    signature: str
    title: str
    blame: Blame
    line: int
    text: str
    hint: str
    test: str | None = None
    count: int = 1
    captures: Mapping[str, Captured] = field(default_factory=dict)
    wrapper: bool = False
    fingerprint: str = ""
    process: str = ""
    diagnosis: Diagnosis | None = None
    past: MemoryPast | None = None

    def size(self, name: str) -> int | None:
        """A captured size `<name>_gib` in bytes, as exact as it was printed; None where it was not captured."""
        value = self.captures.get(f"{name}_gib")
        return round(value * 2**30) if isinstance(value, float | int) else None

    @property
    def largest_utilization(self) -> float | None:
        """The largest utilization, to two decimals, with which the engine would have started in the memory it saw.

        None where no engine was refused for a setting, or where the numbers are none of a card.
        """
        free, total = self.captures.get("free_gib"), self.captures.get("total_gib")
        if (
            "utilization" not in self.captures
            or not isinstance(free, float | int)
            or not isinstance(total, float | int)
        ):
            return None
        if not 0 <= free <= total or not total:
            return None
        return largest_utilization(free * GIB, total * GIB)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one log says of its job, the root cause first; no cause where nothing failed.

    `unexplained` are the tests that failed by the runner's own summary and that no cause names. `cut_sessions` are
    those of `sessions` that the log does not show to their end: it was cut off, or they died.
    """

    log: str
    exit_status: int | None
    sessions: int
    passed: int
    failed: int
    causes: tuple[Cause, ...]
    warnings: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()
    cut_sessions: int = 0
