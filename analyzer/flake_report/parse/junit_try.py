"""One attempt as a report tells of it, not yet numbered."""

from __future__ import annotations

from typing import NamedTuple

from flake_report.model.results import Outcome, Phase


class Try(NamedTuple):
    """Times as written. `known` is False where there may have been other attempts, or fewer."""

    outcome: Outcome
    phase: Phase | None = None
    time: str = ""
    stamp: str = ""
    message: str = ""
    text: str = ""
    known: bool = True
