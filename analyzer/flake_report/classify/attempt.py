"""Why one attempt of one test failed: the failure is judged, not the test and not what it printed.

The failure's own message decides. What the test printed, and what the log names as its cause, count only where the
message says nothing of its own: it is empty, or it wraps another failure. A comparison that failed beside a full card
is still a comparison that failed, and stays the test's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flake_report.model.failure import Blame, Cause, Match

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
