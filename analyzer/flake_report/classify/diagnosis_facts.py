"""What is known of one GPU-memory event: numbers, snapshot, holders, samples, other engines, retries.

Sizes are bytes. Those of a log were printed rounded to 0.01 GiB and are as exact as that; the recorder's are exact.
Whether the event happened is vLLM's word, decided on bytes: it is never decided again here from rounded numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from flake_report.model.failure import Cause
from flake_report.model.record import EngineStart, Leak, MemorySample
from flake_report.model.results import Attempt, DeviceMemory

GIB = 1 << 30
_OLD_TORCH = "torch-out-of-memory-old"
"""Before 2.1 torch told what it had reserved in all; since then, what it has reserved and not allocated."""
_MOST_OF_OWN = 2.5
_LEAST_OF_OWN = 1.0
_SHARE_OF_OWN = 0.12


@dataclass(frozen=True, slots=True)
class Facts:
    """The evidence of one event; what is None or empty is not known.

    `free`, `total` and `asked` are the error's numbers; `taken` whether `asked` comes on top of what the program holds.
    `snapshot` is vLLM's own account at the error, `listed` torch's list of processes. `attempt` is the recorder's
    account of the attempt that failed, `before` its measurement of the device as the attempt began. `at_start` is the
    device in the job's first nvidia-smi table, `late` in one after the event that lists processes. `earlier` are the
    engines of the same session that had come up before, `leaks` what other tests of it left by the recorder's summary,
    the largest first. `passed_later` says how the next try passed, `first` that no
    test ran before in this process, `workers` that the session had several processes side by side, `tested` that the
    job runs tests at all.
    """

    cause: Cause
    free: int | None
    total: int | None
    asked: int | None
    snapshot: MemorySample | None = None
    listed: MemorySample | None = None
    attempt: Attempt | None = None
    before: DeviceMemory | None = None
    at_start: MemorySample | None = None
    late: MemorySample | None = None
    earlier: tuple[EngineStart, ...] = ()
    leaks: tuple[Leak, ...] = ()
    passed_later: str = ""
    first: bool = False
    workers: bool = False
    tested: bool = False

    @property
    def used(self) -> int | None:
        """Memory of the device that somebody held at the error."""
        if self.free is None or self.total is None or self.free > self.total:
            return None
        return self.total - self.free

    @property
    def torch(self) -> int | None:
        """What torch held in the process that ran out, by its own message: allocated, and reserved beyond that."""
        allocated, reserved = self.cause.size("allocated"), self.cause.size("reserved")
        if allocated is None or reserved is None:
            return None
        return max(allocated, reserved) if self.cause.signature == _OLD_TORCH else allocated + reserved

    @property
    def short(self) -> int:
        """By how much it was refused; 0 where the error does not say."""
        return max(self.asked - self.free, 0) if self.asked is not None and self.free is not None else 0

    @property
    def own_at_start(self) -> int:
        """What a starting engine may hold before it looks: context, NCCL's buffers, cuBLAS.

        0.25 to 2.28 GiB in starts that had the card to themselves (RTX 3090, L4 alone and on two ranks, H200); the
        bound is 2.5, and on cards below 20 GiB 12 % of the card, yet never less than 1.
        """
        share = _SHARE_OF_OWN * self.total / GIB if self.total else _MOST_OF_OWN
        return round(min(_MOST_OF_OWN, max(_LEAST_OF_OWN, share)) * GIB)

    @property
    def where(self) -> str:
        """The place of the event in words: a line of the log, or the recorder's file, which has no lines of it."""
        return f"line {self.cause.line:,}" if self.cause.line else "recorder"
