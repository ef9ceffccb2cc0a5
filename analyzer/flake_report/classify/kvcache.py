"""No room for the KV cache: contention or configuration, by the number that the engine printed.

vLLM sets aside what it asked for, takes off what the card holds beside the cache, and calls the rest available. Alone
on the card that can fall below zero by no more than the engine itself uses: its weights, and a little for activation
and context. A larger hole was dug by somebody else, while the engine measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from flake_report.model.failure import Blame, Match
from flake_report.model.joblog import JobLog

NUMBER = "kv-cache-taken"
"""The row that takes the engine's own line, when the number in it is negative."""
REFUSAL = "no-kv-cache-memory"
"""The row that takes the refusal which follows."""
CONSEQUENCES = {REFUSAL: NUMBER}
"""A test's own text holds only the first; where the log holds the second for that test, it says why."""
OWN_USE_GIB = 2.0
"""What an engine uses beside its weights, generously: a context is about 0.5 GiB, activation mostly less than 1.5."""
SETTING_HINT = "the setting leaves no room beside the weights: raise gpu_memory_utilization, or take a smaller model"


def settle(matches: Iterable[Match], log: JobLog) -> list[Match]:
    """The matches, with one telling of each hole: the number where somebody else dug it, else the refusal."""
    told = list(matches)
    numbers = [match for match in told if match.signature.name == NUMBER]
    settled = []
    for match in told:
        if match.signature.name == NUMBER:
            if _taken(match, log):
                settled.append(match)
        elif match.signature.name == REFUSAL and (number := _nearest(match, numbers, log)):
            if not _taken(number, log):
                settled.append(_as_setting(match))
        else:
            settled.append(match)
    return settled


def _taken(number: Match, log: JobLog) -> bool:
    """Whether the hole is larger than the engine could dig."""
    missing = number.captures.get("missing_gib")
    if not isinstance(missing, float | int):
        return False
    weights = [
        engine.weight / 2**30
        for engine in log.engines
        if engine.weight is not None and engine.kv is not None and abs(engine.kv / 2**30 + missing) < 0.01
    ]
    return missing > max(weights, default=0.0) + OWN_USE_GIB


def _nearest(refusal: Match, numbers: Sequence[Match], log: JobLog) -> Match | None:
    """The number that belongs to a refusal: of the same test, and the closest; pytest prints it after the traceback."""
    test = log.test_at(refusal.line)
    same = [number for number in numbers if log.test_at(number.line) == test] or list(numbers)
    return min(same, key=lambda number: abs(number.line - refusal.line), default=None)


def _as_setting(refusal: Match) -> Match:
    return refusal._replace(signature=replace(refusal.signature, blame=Blame.TEST, hint=SETTING_HINT))
