"""How one attempt ended, from what each of its phases reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpu_guard.fingerprint import fingerprint

_LONGEST_MESSAGE = 8_000
_LONGEST_TEXT = 160_000
_KEPT_HEAD = 40_000  # of a text that is too long: how it began; the rest of the room is for how it ended
_CUT = "\n[gpu-guard: {} characters left out]\n"


class PhaseResult(NamedTuple):
    """One phase of one attempt; `fingerprint` is empty where the failure has none. Texts are whole."""

    outcome: str  # passed, failed, skipped, xfailed, xpassed
    message: str = ""
    text: str = ""
    fingerprint: str = ""


class Verdict(NamedTuple):
    """The attempt as a whole, and the phase that decided."""

    outcome: str
    phase: str
    result: PhaseResult


def of_report(report: Any) -> PhaseResult:
    """What a pytest report says, before any plugin renamed a failure to hide it from the count.

    An outcome of a plugin's own (`rerun`, `retried`) with a failure's text in it is a failure.
    """
    outcome = str(report.outcome)
    expected = hasattr(report, "wasxfail")
    if outcome == "passed":
        return PhaseResult("xpassed" if expected else "passed", str(getattr(report, "wasxfail", "")))
    if outcome == "skipped":
        reason = str(report.wasxfail) if expected else _skip_reason(report.longrepr)
        return PhaseResult("xfailed" if expected else "skipped", reason)
    if outcome != "failed" and not report.longrepr:
        return PhaseResult("passed")
    return failure(report.longrepr, report.sections)


def failure(longrepr: Any, sections: Sequence[tuple[str, str]] = ()) -> PhaseResult:
    """A failed phase: pytest's own form of the failure, with what was captured.

    An engine in a process of its own leaves the cause only in captured output.
    """
    message = message_of(longrepr)
    known = fingerprint(message)
    parts = [str(longrepr)]
    parts += [f"{f' {name} ':-^80}\n{content}" for name, content in sections if content.strip()]
    return PhaseResult("failed", message, "\n".join(parts), known.hash if known else "")


def message_of(longrepr: Any) -> str:
    """The failure in pytest's own short form, the one that its JUnit writer puts into `message`."""
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    lines = str(longrepr).strip().splitlines()
    return lines[0] if lines else ""


def verdict(phases: Mapping[str, PhaseResult]) -> Verdict | None:
    """The attempt's outcome from its phases; None where it was broken off before anything was decided.

    As pytest counts: a failed call is `failed`, a failed set-up or teardown `error`; a teardown that fails after a
    failed call adds its text to the failure.
    """
    setup, call, teardown = (phases.get(name) for name in ("setup", "call", "teardown"))
    decided = None
    if setup is not None and setup.outcome != "passed":
        decided = Verdict("error" if setup.outcome == "failed" else setup.outcome, "setup", setup)
    elif call is not None:
        decided = Verdict(call.outcome, "call", call)
    if teardown is None or teardown.outcome != "failed":
        return decided
    if decided is None or decided.outcome not in ("failed", "error"):
        return Verdict("error", "teardown", teardown)
    both = decided.result._replace(text=f"{decided.result.text}\n\nand in teardown:\n{teardown.text}".strip())
    return decided._replace(result=both)


def texts(result: PhaseResult) -> dict[str, str]:
    """Message, traceback and fingerprint as the file holds them: cut to size, absent where empty."""
    found = {
        "message": _short_message(result.message),
        "traceback": _short_text(result.text),
        "fingerprint": result.fingerprint,
    }
    return {key: value for key, value in found.items() if value}


def _short_message(text: str) -> str:
    """A message that fits into a line of the attempts file."""
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


def _short_text(text: str) -> str:
    """A traceback with output that fits: the middle goes, for causes stand at either end."""
    over = len(text) - _LONGEST_TEXT
    if over <= 0:
        return text
    return text[:_KEPT_HEAD] + _CUT.format(over) + text[_KEPT_HEAD + over :]


def _skip_reason(longrepr: Any) -> str:
    if isinstance(longrepr, (tuple, list)) and len(longrepr) == 3:
        return str(longrepr[2]).removeprefix("Skipped: ")
    return message_of(longrepr) if longrepr else ""
