"""Errors of an engine's start that speak for themselves: memory that changed hands, and no room for the KV cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import TypeAlias

from flake_report.model.failure import Blame, Cause, Diagnosis, DiagnosisKind
from flake_report.model.joblog import JobLog
from flake_report.model.record import EngineStart

from .diagnosis_evidence import MOST_ENGINES
from .diagnosis_facts import Facts
from .diagnosis_memory import came_back
from .diagnosis_words import gib
from .kvcache import NUMBER, OWN_USE_GIB, REFUSAL

Special: TypeAlias = Callable[[Facts, JobLog], Diagnosis | None]

_ALONE = "give the job the card alone, or start each engine only when the card is clear"


def changed_hands(facts: Facts, _log: JobLog) -> Diagnosis | None:
    """More was free after the engine had measured than before: somebody else let go."""
    measured = _before_and_after(facts.cause)
    if measured is None:
        return came_back(facts)
    word, initial, current = measured
    back = current - initial if word == "free" else initial - current
    says = f"{gib(initial)} GiB were {word} before, {gib(current)} after the engine had measured"
    evidence = (f"{facts.where}: the error's numbers",)
    if gib(initial) == gib(current):
        advice = "update vLLM: until January 2026 it refused a card on which nothing had changed"
        return Diagnosis(DiagnosisKind.MISREAD, f"{says}: nothing that can be seen came back", advice, evidence)
    if again := came_back(facts):
        return Diagnosis(again.kind, f"{says}; {facts.passed_later}", again.advice, (*evidence, *again.evidence))
    says = f"another process let {gib(back)} GiB go meanwhile: {says}"
    return Diagnosis(DiagnosisKind.OTHER_PROCESS, says, _ALONE, evidence)


def _before_and_after(cause: Cause) -> tuple[str, int, int] | None:
    """What was counted, free or used, and both measurements; None where the message has no numbers."""
    initial, current = cause.size("initial"), cause.size("current")
    if initial is None or current is None:
        in_bytes = cause.captures.get("initial_bytes"), cause.captures.get("current_bytes")
        if not (isinstance(in_bytes[0], int) and isinstance(in_bytes[1], int)):
            return None
        initial, current = in_bytes[0], in_bytes[1]
    return "used" if "used memory" in cause.text else "free", initial, current


def taken(facts: Facts, log: JobLog) -> Diagnosis | None:
    """The engine's own number is far below zero: somebody took the card while it measured."""
    missing = facts.cause.size("missing")
    if missing is None:
        return None
    engine = _engine(facts.cause, log)
    if engine is None or engine.weight is None:
        says = f"-{gib(missing)} GiB for the KV cache: another process, or weights larger than the setting allows"
        advice = "look for 'Model loading took': a hole larger than the weights is somebody else's"
        return Diagnosis(DiagnosisKind.UNDETERMINED, says, advice, (f"{facts.where}: the engine's own number",))
    says = (
        f"-{gib(missing)} GiB for the KV cache: an engine alone falls short by its weights, {gib(engine.weight)}, and "
        f"{OWN_USE_GIB:.0f} more at most; another process took the rest while it measured"
    )
    advice = "no setting mends this: give the job the card alone, or find who allocates beside it"
    return Diagnosis(DiagnosisKind.CONTENTION, says, advice, (f"{facts.where}: the engine's own number",))


def no_room(facts: Facts, log: JobLog) -> Diagnosis | None:
    """The refusal without a hole that somebody else dug."""
    if facts.cause.blame is not Blame.TEST:
        says = "unknown: the engine's own number, which tells contention from a setting, is not in this log"
        advice = (
            "look for 'Available KV cache memory': far below zero another process took the card, else raise the setting"
        )
        return came_back(facts) or Diagnosis(DiagnosisKind.UNDETERMINED, says, advice)
    engine = _engine(facts.cause, log)
    left = engine.kv if engine else None
    weights = f" beside weights of {gib(engine.weight)}" if engine and engine.weight is not None else ""
    room = f"{'-' if left < 0 else ''}{gib(abs(left))} GiB" if left is not None else "nothing"
    says = f"the setting leaves {room} for the KV cache{weights}: no more is missing than the engine itself takes"
    return Diagnosis(DiagnosisKind.SHORTAGE, says, facts.cause.hint, (f"{facts.where}: the refusal",))


def too_small(facts: Facts, _log: JobLog) -> Diagnosis | None:
    """The engine measured some room, and the request or the model wants more."""
    needed, available = facts.cause.size("needed"), facts.cause.size("available")
    held, allowed = facts.cause.size("held"), facts.asked
    says = "the setting leaves less than what was asked of it"
    if held is not None and allowed is not None:
        says = f"weights held elsewhere take {gib(held)} GiB, and the setting allows {gib(allowed)} in all"
    if needed is not None and available is not None:
        says = f"{gib(needed)} GiB is needed for one request, and the setting leaves {gib(available)}"
    return Diagnosis(DiagnosisKind.SHORTAGE, says, facts.cause.hint, (f"{facts.where}: the engine's numbers",))


def _engine(cause: Cause, log: JobLog) -> EngineStart | None:
    """The engine start that was refused, by its test and outcome."""
    engines = islice(log.engines, MOST_ENGINES)
    found = [one for one in engines if one.test == (cause.test or "") and one.outcome == "no cache blocks"]
    return found[-1] if found else None


RULES_BY_SIGNATURE: Mapping[str, Special] = {
    "memory-profiling": changed_hands,
    "memory-profiling-old": changed_hands,
    NUMBER: taken,
    REFUSAL: no_room,
    "kv-cache-too-small": too_small,
    "kv-cache-too-short": too_small,
    "mamba-cache-too-small": too_small,
    "held-weights-exceed-setting": too_small,
}
"""Signatures whose own numbers decide; where a rule finds nothing, the common ones follow."""
