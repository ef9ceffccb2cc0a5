"""pytest's outcome words, in order, to attempts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from flake_report.model.results import Outcome, Phase

from .pytestlines import RERUN, WORDS


@dataclass(slots=True)
class Seen:
    """One outcome word of one test. With `-s` a test's own output may end in such words too: `others` keeps them."""

    nodeid: str
    word: str
    line: int
    first_line: int
    worker: str = ""
    seconds: float | None = None
    at: datetime | None = None
    reason: str = ""
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class Try:
    """One attempt while its words come in."""

    seen: Seen
    outcome: Outcome
    phase: Phase | None
    rerun: bool = False
    teardown_failed: bool = False
    words: list[Seen] = field(default_factory=list)


def tries(words: list[Seen]) -> list[Try]:
    """The attempts of one test from its words.

    A failing teardown says a second word for the same attempt: ERROR, or RERUN where a rerun follows. Two RERUNs in
    a row are two attempts, except where the last attempt failed in call and teardown both: then each did.
    """
    found: list[Try] = []
    for seen in words:
        last = found[-1] if found else None
        if last is not None and not last.rerun and not last.teardown_failed and _of_teardown(seen, last):
            last.teardown_failed = True
            last.rerun = seen.word == RERUN
            if not last.outcome.bad:
                last.outcome, last.phase = Outcome.ERROR, Phase.TEARDOWN
            continue
        found.append(Try(seen, WORDS[seen.word], _phase(seen.word), rerun=seen.word == RERUN))
    reruns = [one for one in found if one.rerun and one.seen.word == RERUN]
    if found and found[-1].teardown_failed and found[-1].outcome is Outcome.FAILED and len(reruns) == len(found) - 1:
        return reruns[:: 2 if len(reruns) % 2 == 0 else 1] + found[-1:]
    return found


def _of_teardown(seen: Seen, last: Try) -> bool:
    return seen.word == "ERROR" or (seen.word == RERUN and last.outcome in (Outcome.PASSED, Outcome.SKIPPED))


def _phase(word: str) -> Phase | None:
    if word == "ERROR":
        return Phase.SETUP
    return None if word in (RERUN, "SKIPPED") else Phase.CALL


def settled(seen: Seen, failed: set[str], *, complete: bool) -> str:
    """The word that holds: a test's own output may have ended with an outcome word, the short summary knows better."""
    if not complete or not seen.others:
        return seen.word
    if seen.nodeid in failed:
        return "FAILED" if "FAILED" in seen.others else seen.word
    if seen.word in ("FAILED", "ERROR"):
        return next((word for word in reversed(seen.others) if word not in ("FAILED", "ERROR")), seen.word)
    return seen.word
