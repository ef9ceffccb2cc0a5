"""The guard's lines in the job's log."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from gpu_guard.line import one_line


def say(sentence: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"gpu-guard: {one_line(sentence)}\n")
    sys.stdout.flush()


def refuse(verdict: str, reasons: Iterable[str]) -> None:
    """Why the job does not start; Buildkite opens the log here by itself."""
    sys.stdout.write("^^^ +++\n")
    for sentence in (verdict, *reasons):
        say(sentence)
