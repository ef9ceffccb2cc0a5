"""What a job log says: blocks of bytes on the way in, sessions and an exit status on the way out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from .results import Attempt, ParseWarning

Cleaner: TypeAlias = Callable[[bytes], str]
"""One raw line to the text that a person would read: no stamps, colours or control bytes."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a log. `offset` is the block's first byte in the file, `first_line` its number from 1.

    A block begins with the last `overlap` bytes of the one before (whole lines), so that a message of several
    lines is whole in at least one of the two.
    """

    data: bytes
    first_line: int
    offset: int
    overlap: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """One run of a test runner in the log, from its header to its summary line.

    Counts are the runner's own, from the summary line; `ended` is False where that line never came.
    `command` is empty where the log does not show it. `failures` are the node ids of the short summary.
    """

    runner: str
    first_line: int
    last_line: int
    command: str = ""
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    rerun: int = 0
    ended: bool = True
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobLog:
    """The outline of a job log. `exit_status` is None where the log does not say how the command ended."""

    lines: int
    exit_status: int | None = None
    signal: str = ""
    sessions: tuple[Session, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    warnings: tuple[ParseWarning, ...] = ()
