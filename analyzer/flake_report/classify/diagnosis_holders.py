"""Who holds the memory, where somebody lists it: torch in its error, vLLM's snapshot, the recorder, nvidia-smi."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flake_report.model.failure import HELD, Diagnosis, DiagnosisKind
from flake_report.model.record import MemorySample
from flake_report.model.results import Holder

from .diagnosis_facts import Facts
from .diagnosis_words import FIND_IT, FREE_IT, GIB, RECORD, SHUT_DOWN, elsewhere, gib, listed, named, share, stopgap

_NO_LIST = "another process, which no list names"


def torch_of_this_process(facts: Facts) -> Diagnosis | None:
    """Most of what is in use is torch's own, and was there before the test asked for more."""
    snapshot, used = facts.snapshot, facts.used
    if snapshot and used and most(snapshot.torch_reserved, used, facts):
        own = snapshot.torch_reserved or 0
        fact = f"line {snapshot.line:,}: MemorySnapshot, torch {gib(own)} of {gib(snapshot.used or used)} GiB in use"
        return _kept(facts, own, used, fact)
    before = facts.before
    if before and before.used_before and most(before.torch_reserved_before, before.used_before, facts):
        own = before.torch_reserved_before or 0
        fact = f"recorder: torch had {own:,} of {before.used_before:,} bytes in use as the test began"
        return _kept(facts, own, before.used_before, fact)
    return None


def _kept(facts: Facts, own: int, used: int, fact: str) -> Diagnosis:
    who, by = ("this pytest process", "an earlier test in the session") if facts.tested else ("this process", "")
    if facts.first and facts.tested:
        by = "what ran before the first test"
    if facts.leaks and 2 * facts.leaks[0].size >= own:
        return _left(facts, who, share(own, used), fact)
    says = f"{HELD}{who}: {share(own, used)} is torch's own: {by or 'an earlier engine or tensor'} kept it"
    advice = SHUT_DOWN if "utilization" in facts.cause.captures else FREE_IT
    return Diagnosis(DiagnosisKind.SAME_PROCESS, says, advice, (fact,))


def _left(facts: Facts, who: str, told: str, fact: str) -> Diagnosis:
    """The recorder measured which test left most of it."""
    leak, *_ = facts.leaks
    held = f" in {leak.held}" if leak.held else ""
    size = f"{leak.size / GIB:.1f}"  # as exact as the summary prints it
    says = f"{HELD}{who}: {told} is torch's own: {leak.test} left {size} of it{held}"
    advice = "make that test give it back: shut its engine down, drop what it keeps; a lower setting only hides it"
    return Diagnosis(DiagnosisKind.SAME_PROCESS, says, advice, (fact, f"line {leak.line:,}: gpu-guard's summary"))


def processes_by_name(facts: Facts) -> Diagnosis | None:
    """Lists of processes, with what each holds."""
    if facts.used is None:
        return None
    if facts.listed and facts.listed.holders:
        return _of_torchs_list(facts, facts.listed, facts.used)
    attempt = facts.attempt
    if attempt and attempt.pid and attempt.holders:
        foreign = others(attempt.holders, [attempt.pid])
        if most(_sum(foreign), facts.used, facts):
            return _by(foreign, f"{share(_sum(foreign), facts.used)}, still there after the test", "recorder: holders")
    if facts.late:
        engines = [one for one in facts.late.holders if "EngineCore" in one.name and one.size]
        if most(_sum(engines), facts.used, facts):
            says = f"{share(_sum(engines), facts.used)}: an engine that outlived what started it"
            return _by(engines, says, f"line {facts.late.line:,}: nvidia-smi")
    return None


def _by(holders: Sequence[Holder], says: str, fact: str) -> Diagnosis:
    advice = f"end {named(holders[0])}, or give the job the card alone; a lower setting only hides it"
    return elsewhere(listed(holders), says, fact, advice)


def _of_torchs_list(facts: Facts, told: MemorySample, used: int) -> Diagnosis:
    own, foreign = _sum(one for one in told.holders if one.pid == 0), others(told.holders, [])
    if not own and foreign and told.torch_reserved:
        # In a container torch does not find itself in the driver's list: the process that fits its account is it.
        mine = min(foreign, key=lambda one: abs((one.size or 0) - (told.torch_reserved or 0)))
        if told.torch_reserved <= (mine.size or 0) <= told.torch_reserved + GIB:
            own, foreign = mine.size or 0, others(foreign, [mine.pid])
    where = f"line {told.line:,}: torch's list of processes"
    if not own and told.torch_reserved is None:
        says = f"{HELD}{listed(foreign)}, one of which may be the one that failed: the message is cut before it says"
        return Diagnosis(DiagnosisKind.UNDETERMINED, says, facts.cause.hint, (where,))
    rest = _sum(foreign)
    if rest > own:
        mine_too = f", this process {gib(own)}" if own else ""
        return _by(foreign, f"{share(rest, used)}{mine_too}", where)
    return own_need(facts, own, used - own, where)


def own_need(facts: Facts, own: int, rest: int, where: str) -> Diagnosis:
    """The program that failed is the one that holds most; other processes hold `rest`."""
    unused, ask = facts.cause.size("reserved") or 0, "ask for less"
    told = share(own, facts.used or own)
    if facts.asked and facts.torch and unused > facts.asked and unused < facts.torch:
        told += f", {gib(unused)} of it reserved by torch and unused"
        ask = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (torch's cache is in pieces), or ask for less"
    if rest >= facts.short > 0:
        says = f"{HELD}this process: {told}; other processes hold {gib(rest)}, and without them it would have fitted"
        return Diagnosis(DiagnosisKind.UNDETERMINED, says, f"give it the card alone, or {ask}", (where,))
    if facts.cause.process or facts.first or not facts.tested:
        says = f"nobody else is to blame: this process itself holds {told}"
        return Diagnosis(DiagnosisKind.SHORTAGE, says, ask, (where,))
    says = f"{HELD}this process: {told}; whether an earlier test left it or this one needs it, the log does not say"
    return Diagnosis(DiagnosisKind.UNDETERMINED, says, f"{ask}, or {RECORD}", (where,))


def outside_torch(facts: Facts) -> Diagnosis | None:
    """Most of what is in use is not torch's in this process."""
    snapshot, used, before = facts.snapshot, facts.used, facts.before
    if snapshot and used and snapshot.torch_reserved is not None:
        rest = used - snapshot.torch_reserved
        if rest > facts.own_at_start:
            says, fact = (
                f"{share(rest, used)} is outside this process's torch",
                f"line {snapshot.line:,}: MemorySnapshot",
            )
            return elsewhere(_NO_LIST, says, fact, stopgap(facts.cause, FIND_IT))
    if before and before.used_before and before.torch_reserved_before is not None:
        rest = before.used_before - before.torch_reserved_before
        if rest > facts.own_at_start and rest >= facts.short:
            says = f"{gib(rest)} GiB outside this process's torch was in use as the test began"
            return elsewhere(_NO_LIST, says, f"recorder: {rest:,} bytes", stopgap(facts.cause, FIND_IT))
    if facts.torch is not None and used:
        rest, fact = used - facts.torch, f"{facts.where}: torch's account of its own memory"
        if rest > max(facts.own_at_start, facts.torch):
            return elsewhere(_NO_LIST, f"{share(rest, used)} is outside this process's torch", fact, FIND_IT)
        return own_need(facts, facts.torch, 0, fact)
    return None


def others(holders: Iterable[Holder], own: Iterable[int]) -> tuple[Holder, ...]:
    """The holders that are none of these pids, the largest first; the program that failed stands as pid 0."""
    known = {0, *own}
    return tuple(
        sorted((one for one in holders if one.pid not in known and one.size), key=lambda one: -(one.size or 0))
    )


def most(part: int | None, used: int, facts: Facts) -> bool:
    """Whether a part is what matters of the memory in use: no less than its half, and than what was missing."""
    return bool(part) and part is not None and 2 * part >= used and part >= facts.short


def _sum(holders: Iterable[Holder]) -> int:
    return sum(one.size or 0 for one in holders)
