"""Too little GPU memory, at an engine's start or in an allocation: whose it was, by the strongest evidence at hand.

The rules stand in order of strength, and the first that holds speaks. A number that cannot be; torch's own account of
the process; a next try that passed; processes by name; what lies outside torch; a card with nothing on it; a card that
was full before the job; engines that took just as much; a process too young to hold anything. Where none holds, the
evidence does not tell, and that is what is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from flake_report.model.failure import HELD, Diagnosis, DiagnosisKind
from flake_report.model.record import EngineStart

from .diagnosis_facts import Facts
from .diagnosis_holders import most, outside_torch, processes_by_name, torch_of_this_process
from .diagnosis_words import DEBUG, GIB, RECORD, SHUT_DOWN, elsewhere, gib, stopgap

Rule: TypeAlias = Callable[[Facts], Diagnosis | None]

_ABOVE = round(1.5 * GIB)
"""What an engine's process holds beside weights and KV cache: context, NCCL, activation. 0.78 GiB was measured."""
_BELOW = round(0.3 * GIB)
"""How far below its share an engine stays at most: 11.12 GiB in use where 11.02 were asked, 84.37 for 83.88."""


def misread(facts: Facts) -> Diagnosis | None:
    """A number that no card can have, or that a driver is known to make up."""
    if facts.free is None or facts.total is None:
        return None
    if facts.free > facts.total:
        says = f"{gib(facts.free)} GiB free of {gib(facts.total)} is no reading of a card"
    elif facts.free == 0 and str(facts.cause.captures.get("device", "")).startswith("xpu") and not facts.listed:
        says = "0.0 GiB free on an XPU, and nothing in this log holds it: some of its drivers answer 0 whatever is free"
    else:
        return None
    advice = "compare with the platform's own tool (xpu-smi, nvidia-smi), update driver and vLLM; no setting mends it"
    return Diagnosis(DiagnosisKind.MISREAD, says, advice, (f"{facts.where}: the error's numbers",))


def came_back(facts: Facts) -> Diagnosis | None:
    """The next try passed, and nobody had changed a thing."""
    if not facts.passed_later:
        return None
    held = f"{gib(facts.short)} GiB were missing, and came" if facts.short else "the memory came"
    return Diagnosis(
        DiagnosisKind.SLOW_RELEASE,
        f"{held} back by itself: {facts.passed_later}",
        "wait until the card is clear before each engine starts; a retry passes and hides who lets go so late",
        (facts.passed_later,),
    )


def setting_asks_too_much(facts: Facts) -> Diagnosis | None:
    """Little is in use: no more than the starting engine itself may hold before it looks."""
    used = facts.used
    if used is None or "utilization" not in facts.cause.captures or used > facts.own_at_start:
        return None
    says = (
        f"the setting asks for too much here: only {gib(used)} GiB is in use, no more than an engine takes as it starts"
    )
    advice = stopgap(facts.cause, "if it fitted before, what an engine takes as it starts has grown")
    return Diagnosis(DiagnosisKind.SHORTAGE, says, advice, (f"{facts.where}: the error's numbers",))


def full_before_the_job(facts: Facts) -> Diagnosis | None:
    """nvidia-smi's table at the job's start shows the memory already taken."""
    start, used = facts.at_start, facts.used
    if start is None or used is None or not start.used or not most(start.used, used, facts):
        return None
    says = f"{gib(start.used)} GiB was in use when the job began, of {gib(used)} at the error"
    fact = f"line {start.line:,}: nvidia-smi at the job's start"
    return elsewhere("something outside this job", says, fact, "look at what else runs on the machine before the job")


def engine_as_large(facts: Facts) -> Diagnosis | None:
    """An earlier engine of the session took just as much as is in use."""
    used = facts.used
    if used is None:
        return None
    for engine in reversed(facts.earlier):
        taken = _taken(engine, facts.total)
        if taken is None or not taken - _BELOW <= used <= taken + _ABOVE:
            continue
        of = (
            f"that {engine.test} started" if engine.test and engine.test != facts.cause.test else "that started earlier"
        )
        says = f"the engine {of} took {gib(taken)} GiB, as much as the {gib(used)} in use: it was not let go"
        fact = f"line {engine.line:,}: an engine that came up, {gib(taken)} GiB"
        if engine.process:
            return elsewhere(
                engine.process, says, fact, "wait for that process to end before the next start, or end it"
            )
        if not facts.workers and not facts.cause.process:
            facts_ = (fact, f"{facts.where}: the error's numbers")
            return Diagnosis(DiagnosisKind.SAME_PROCESS, f"{HELD}this process: {says}", SHUT_DOWN, facts_)
    return None


def _taken(engine: EngineStart, total: int | None) -> int | None:
    """What an engine took: weights and KV cache as it printed them, else its share by the setting."""
    if engine.kv is not None:
        return engine.kv + (engine.weight or 0)
    if engine.utilization is None or total is None:
        return None
    return round(engine.utilization * total)


def process_too_young(facts: Facts) -> Diagnosis | None:
    """The error comes from a process that the engine has for its own: it holds a context, and nothing else yet."""
    process, used = facts.cause.process, facts.used
    if not process or used is None or "utilization" not in facts.cause.captures:
        return None
    says = f"{gib(used)} GiB is in use, and the engine's own process ({process}) had just begun: it has a context only"
    advice = stopgap(
        facts.cause, "look for engines that outlived an earlier test, for pytest's own process, for others"
    )
    return elsewhere("other processes", says, f"{facts.where}: told by {process}", advice)


def unknown(facts: Facts) -> Diagnosis:
    """What is missing, and what is at least excluded."""
    start, used, captures = facts.at_start, facts.used, facts.cause.captures
    missing = "this log has no snapshot and no holder list"
    told = [missing if facts.free is not None else f"the message does not say what was free, and {missing}"]
    evidence = []
    if "waited_s" in captures:
        told.append(f"it was not given back in {captures['waited_s']} s of waiting")
        evidence.append(f"{facts.where}: the message")
    if start is not None and start.used is not None and start.used <= facts.own_at_start:
        told.append(f"{gib(start.used)} GiB was in use when the job began, so it came during the job")
        evidence.append(f"line {start.line:,}: nvidia-smi at the job's start")
    if used is not None and facts.asked and "utilization" in captures and abs(used - facts.asked) <= _BELOW:
        told.append(
            f"{gib(used)} GiB is in use, about what this setting asks, as if an engine like it still held its share"
        )
        evidence.append(f"{facts.where}: the error's numbers")
    if "utilization" in captures:
        advice = stopgap(facts.cause, RECORD if facts.tested else DEBUG)
    else:
        advice = f"{facts.cause.hint}; {RECORD}" if facts.tested else facts.cause.hint
    return Diagnosis(DiagnosisKind.UNDETERMINED, f"{HELD}unknown: {'; '.join(told)}", advice, tuple(evidence))


RULES: tuple[Rule, ...] = (
    misread,
    torch_of_this_process,
    came_back,
    processes_by_name,
    outside_torch,
    setting_asks_too_much,
    full_before_the_job,
    engine_as_large,
    process_too_young,
)
"""The strongest evidence first."""
