"""Sizes and holders in words, and the advice that several diagnoses share.

A sentence that names who holds the memory begins with `HELD`, so that a page can make a column of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from flake_report.model.failure import HELD, Cause, Diagnosis, DiagnosisKind
from flake_report.model.results import Holder

GIB = 1 << 30
RECORD = "find the leftover first: run again with GPU_GUARD_RECORD=FOLDER, which samples memory around each test"
DEBUG = "run again with VLLM_LOGGING_LEVEL=DEBUG: each engine then prints what its own process and what others hold"
FIND_IT = (
    "find the process: run nvidia-smi in the job before the tests, or GPU_GUARD_RECORD=FOLDER, which lists holders"
)
SHUT_DOWN = (
    "lowering the setting hides it until the leftover grows; shut the earlier engine down (engine_core.shutdown())"
)
FREE_IT = "free what the earlier test keeps: drop its references, then gc.collect() and torch.cuda.empty_cache()"
_LISTED = 3
"""Processes that a sentence names."""


def gib(size: int) -> str:
    """`10.86`: in GiB, to two decimals, as the tools print it."""
    return f"{max(size, 0) / GIB:.2f}"


def share(part: int, whole: int) -> str:
    """`10.86 of the 11.12 GiB in use`; all of it where they are one, as far as prints tell."""
    if gib(part) == gib(whole):
        return f"all {gib(whole)} GiB in use"
    return f"{gib(part)} of the {gib(whole)} GiB in use"


def named(holder: Holder) -> str:
    """`process 2627 (VLLM::EngineCore)`."""
    return f"process {holder.pid} ({holder.name})" if holder.name else f"process {holder.pid}"


def listed(holders: Sequence[Holder]) -> str:
    """`process 2627`; of several the first few, each with what it holds."""
    if len(holders) == 1:
        return named(holders[0])
    told = [f"{named(one)} with {gib(one.size or 0)}" for one in holders[:_LISTED]]
    return ", ".join(told) + (f" and {len(holders) - _LISTED} more" if len(holders) > _LISTED else "")


def stopgap(cause: Cause, advice: str) -> str:
    """The advice, after the largest setting that would have started in the memory that was seen."""
    most = cause.largest_utilization
    if most is None:
        return advice
    return f"{f'{most:.2f} is the most that would have started' if most else 'no setting would have started'}; {advice}"


def elsewhere(holder: str, says: str, fact: str, advice: str) -> Diagnosis:
    """Another process holds it: who, how much, the fact behind it, and what to do."""
    return Diagnosis(DiagnosisKind.OTHER_PROCESS, f"{HELD}{holder}: {says}", advice, (fact,))
