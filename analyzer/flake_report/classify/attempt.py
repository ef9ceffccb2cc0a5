"""Why one attempt of one test failed: the failure is judged, not the test and not what it printed.

The failure's own message decides. What the test printed, and what the log names as its cause, count only where the
message says nothing of its own: it is empty, or it wraps another failure. A comparison that failed beside a full card
is still a comparison that failed, and stays the test's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flake_report.model.failure import Blame, Cause, Match
from flake_report.model.results import Attempt

from .kvcache import CONSEQUENCES
from .scan import match_text
from .signatures import SignatureTable

_PRINTED = re.compile(r"^-+ ?Captured \w+(?: \w+)? ?-+$", re.MULTILINE)
"""pytest's heading over what a test printed; what follows is no part of the failure."""
_RAISED = re.compile(r"^E(?:   |$)(.*)$", re.MULTILINE)
"""pytest's lines of what was raised, or of the comparison that failed."""
_CUT = ("...", "…")


def signature_of(message: str, text: str, causes: Sequence[Cause], table: SignatureTable) -> tuple[str, Blame] | None:
    """Name and blame of what failed; None where no row knows it. `causes` are those that the log has for this test."""
    match = _own(message, text, table)
    if match is not None and not match.signature.wrapper:
        return _settled(match, causes)
    if match is None and message.strip():
        return None
    printed = match_text(table, text)
    if printed is not None and not printed.signature.wrapper:
        return _settled(printed, causes)
    return next(((cause.signature, cause.blame) for cause in causes if not cause.wrapper), None)


def recorded_event(attempt: Attempt, test: str, table: SignatureTable) -> Cause | None:
    """A GPU-memory failure that the recorder met, as a cause without a line; None for any other failure.

    `test` is the attempt's node id. Only attempts around which memory was measured count: of the others, the log
    knows more.
    """
    if not attempt.outcome.bad or not attempt.memory:
        return None
    match = _own(attempt.message, attempt.text, table)
    if match is None or match.signature.wrapper or match.signature.blame is not Blame.GPU_MEMORY:
        return None
    row = match.signature
    return Cause(row.name, row.title, row.blame, 0, match.text, row.hint, test, captures=match.captures)


def _own(message: str, text: str, table: SignatureTable) -> Match | None:
    """What the failure itself says: its message; where that was cut or says nothing known, what was raised."""
    cut = message.rstrip().endswith(_CUT)
    match = match_text(table, message) if message and not cut else None
    if match is not None:
        return match
    failure = _PRINTED.split(text, maxsplit=1)[0]
    raised = "\n".join(_RAISED.findall(failure))
    return match_text(table, raised or failure)


def _settled(match: Match, causes: Sequence[Cause]) -> tuple[str, Blame]:
    """The match, with the blame that the whole log gave it."""
    name = match.signature.name
    wanted = CONSEQUENCES.get(name, name)
    same = next((cause for cause in causes if cause.signature in (wanted, name)), None)
    return (same.signature, same.blame) if same else (name, match.signature.blame)
