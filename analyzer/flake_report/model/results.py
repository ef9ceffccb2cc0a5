"""What result files and logs say of tests: attempts, in order.

A test's identity and its attempts are named tuples: a report may hold hundreds of thousands of them, and a frozen
dataclass takes several times as long to make and to look up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """How one attempt of one test ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    CRASHED = "crashed"

    @property
    def bad(self) -> bool:
        """Whether this attempt, alone, would turn a build red."""
        return self in _BAD

    @property
    def good(self) -> bool:
        """Whether this attempt ran and was content; a skipped one did not run."""
        return self in _GOOD


_BAD = frozenset({Outcome.FAILED, Outcome.ERROR, Outcome.CRASHED})
_GOOD = frozenset({Outcome.PASSED, Outcome.XFAILED, Outcome.XPASSED})


class Phase(StrEnum):
    """The part of a test that decided its outcome, in pytest's words."""

    COLLECT = "collect"
    SETUP = "setup"
    CALL = "call"
    TEARDOWN = "teardown"


class ResultSource(StrEnum):
    """Where an attempt was read, best first: the guard's attempts file, a report, the job log."""

    ATTEMPTS = "attempts"
    REPORT = "report"
    LOG = "log"


class TestId(NamedTuple):
    """What makes two results the same test.

    For pytest `classname` is the dotted module without a leading `tests`, then the class, as JUnit writes it;
    for others it is JUnit's classname. `name` carries the parameters. `apart` tells equal names apart where they
    are no reruns of one test: a hostname for browsers, an ordinal for cases without a name; mostly empty.
    """

    classname: str
    name: str
    apart: str = ""

    @property
    def label(self) -> str:
        """`classname::name`, as it can be searched for."""
        return f"{self.classname}::{self.name}"

    def __str__(self) -> str:
        return f"{self.label} ({self.apart})" if self.apart else self.label


TestId.__test__ = False  # type: ignore[attr-defined]  # pytest would take the name for a test class; no field begins so


@dataclass(frozen=True, slots=True)
class ParseWarning:
    """Something in the input that was not understood, or was mended: `place` is a line, an offset, or empty."""

    message: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class Attempt(NamedTuple):
    """One attempt of one test.

    `number` counts from 0 within its session; `known` is False where the order or the number of earlier attempts
    cannot be known from the source. `session` is the session's own id or ordinal, `session_key` tells equal
    sessions of different builds: the command without report, temp and shard options; empty when unknown.
    `message` is one line or a few, `text` the traceback with captured output; both empty where there are none.
    `position` is the start order within the process, from 0. `holders` are of all devices together, after the attempt.
    """

    test: TestId
    outcome: Outcome
    number: int = 0
    known: bool = True
    phase: Phase | None = None
    seconds: float | None = None
    started_at: datetime | None = None
    message: str = ""
    text: str = ""
    file: str = ""
    session: str = ""
    session_key: str = ""
    worker: str = ""
    pid: int | None = None
    position: int | None = None
    source: ResultSource = ResultSource.REPORT
    fingerprint: str = ""
    memory: tuple[DeviceMemory, ...] = ()
    holders: tuple[Holder, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """Memory of one device around one attempt, in bytes; None was not measured (contract: the attempts file).

    `device` is named as torch names it: `cuda:0`.
    """

    device: str
    at_before: datetime | None = None
    at_after: datetime | None = None
    free_before: int | None = None
    free_after: int | None = None
    used_before: int | None = None
    used_after: int | None = None
    torch_reserved_before: int | None = None
    torch_reserved_after: int | None = None
    torch_allocated_after: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds GPU memory, as the driver lists it; bytes, None where the driver does not say."""

    pid: int
    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """What one result file holds, by the field's two ways of counting.

    `suites` and `cases` count elements, and every case has exactly one of the four outcomes. `tests` counts
    logical tests, `reruns` their earlier attempts, `flaky` the tests that both failed and passed.
    `complete` is False when the file is cut, damaged, or not what it should be: never a clean run.
    """

    kind: str
    suites: int = 0
    cases: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    tests: int = 0
    reruns: int = 0
    flaky: int = 0
    complete: bool = True
    warnings: tuple[ParseWarning, ...] = field(default=())
