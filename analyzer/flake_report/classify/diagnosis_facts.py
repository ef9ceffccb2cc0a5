"""What one job knows of one GPU-memory event, gathered: numbers, snapshot, holders, samples, other engines, retries.

Sizes are bytes. Those of a log were printed rounded to 0.01 GiB and are as exact as that; the recorder's are exact.
Whether the event happened is vLLM's word, decided on bytes: it is never decided again here from rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flake_report.model.failure import Cause
from flake_report.model.joblog import JobLog
from flake_report.model.record import EngineStart, MemorySample, SampleMoment
from flake_report.model.results import Attempt, DeviceMemory, ResultSource

GIB = 1 << 30
ROUNDING = GIB // 100
"""Two prints of one size, each rounded to 0.01 GiB by its own tool, differ by no more than this."""
STARTED = "started"
"""The outcome of an engine that came up."""
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
    engines of the same session that had come up before. `passed_later` says how the next try passed, `first` that no
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
        """The place of the event in the log, in words."""
        return f"line {self.cause.line:,}"


def gather(cause: Cause, log: JobLog, attempts: Sequence[Attempt]) -> Facts:
    """The evidence of one cause; `attempts` are those of its test, in order."""
    free, total, asked = _numbers(cause)
    failed = _failed_attempt(attempts)
    before = _device_of(cause, failed)
    if before is not None and _same(before.free_before, free) and _same(before.total, total):
        free, total = before.free_before, before.total
    samples = [sample for sample in log.memory if sample.line is not None]
    told = [sample for sample in samples if sample.when is SampleMoment.ERROR and _of_event(sample, cause, free, total)]
    tables = [sample for sample in samples if sample.when in (SampleMoment.JOB_START, SampleMoment.AFTER)]
    alone = len({sample.device for sample in tables if sample.total}) == 1
    first_tables = [sample for sample in tables if sample.when is SampleMoment.JOB_START]
    return Facts(
        cause=cause,
        free=free,
        total=total,
        asked=asked,
        snapshot=next((one for one in told if one.used is not None and one.torch_reserved is not None), None),
        listed=next(
            (one for one in told if one.used is None and (one.holders or one.torch_reserved is not None)), None
        ),
        attempt=failed,
        before=before,
        at_start=first_tables[0] if alone and first_tables else None,
        late=_late(tables, cause) if alone else None,
        earlier=_earlier(cause, log, free),
        passed_later=_passed_later(cause, log, attempts, failed),
        first=_is_first(cause, log, failed),
        workers=any(attempt.worker for attempt in (*log.attempts, *attempts)),
        tested=bool(log.sessions or attempts or cause.test),
    )


def _numbers(cause: Cause) -> tuple[int | None, int | None, int | None]:
    captures = cause.captures
    if "free_bytes" in captures and "total_bytes" in captures:  # the allocator's own warning counts bytes
        free, total = captures["free_bytes"], captures["total_bytes"]
        if isinstance(free, int) and isinstance(total, int):
            return free, total, cause.size("requested")
    return cause.size("free"), cause.size("total"), cause.size("requested")


def _failed_attempt(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt that failed and was measured, else the first that failed."""
    bad = [attempt for attempt in attempts if attempt.outcome.bad]
    return next((attempt for attempt in bad if attempt.memory), bad[0] if bad else None)


def _device_of(cause: Cause, failed: Attempt | None) -> DeviceMemory | None:
    """The device of the event as the recorder measured it; where the event names none, the fullest."""
    if failed is None or not failed.memory:
        return None
    named = _cuda(cause.captures.get("device"))
    if named:
        return next((one for one in failed.memory if one.device == named), None)
    return max(failed.memory, key=lambda one: one.used_before or 0)


def _cuda(device: object) -> str:
    """A device as torch names it: torch's own errors print the bare index."""
    text = str(device or "")
    return f"cuda:{text}" if text.isdigit() else text


def _of_event(sample: MemorySample, cause: Cause, free: int | None, total: int | None) -> bool:
    """Whether a reading was printed for this very event: the same numbers, and no other test's."""
    if sample.test and cause.test and sample.test != cause.test:
        return False
    named = _cuda(cause.captures.get("device"))
    if sample.device and named and sample.device != named:
        return False
    return _same(sample.free, free) and _same(sample.total, total)


def _same(one: int | None, other: int | None) -> bool:
    """Whether two sizes are one, as far as prints tell; what is not known is no size."""
    return one is not None and other is not None and abs(one - other) <= ROUNDING


def _late(tables: Iterable[MemorySample], cause: Cause) -> MemorySample | None:
    """The first table after the event that lists who holds memory."""
    after = [one for one in tables if one.holders and one.line is not None and one.line > cause.line]
    return after[0] if after else None


def _earlier(cause: Cause, log: JobLog, free: int | None) -> tuple[EngineStart, ...]:
    """Engines of the same session that had come up before the one that failed."""
    failed = [
        engine
        for engine in log.engines
        if engine.outcome not in ("", STARTED)
        and engine.test == (cause.test or "")
        and (engine.free is None or free is None or _same(engine.free, free))
    ]
    if not failed:
        return ()
    last = failed[0]
    return tuple(
        engine
        for engine in log.engines
        if engine.outcome == STARTED and engine.session == last.session and engine.line < last.line
    )


def _passed_later(cause: Cause, log: JobLog, attempts: Sequence[Attempt], failed: Attempt | None) -> str:
    """How the same thing passed later in the job without help; empty where it did not, or was not tried again."""
    if failed is not None:
        again = [
            one
            for one in attempts
            if one.session == failed.session
            and one.worker == failed.worker
            and one.number > failed.number
            and one.outcome.good
        ]
        return f"attempt {again[0].number + 1} of the test passed in the same session" if again else ""
    if cause.test is not None:
        return ""
    refused = [engine for engine in log.engines if engine.outcome not in ("", STARTED) and not engine.test]
    for engine in log.engines:
        same = [one for one in refused if one.line < engine.line and one.utilization == engine.utilization]
        if same and engine.outcome == STARTED and not engine.test and engine.session == same[-1].session:
            return f"an engine with the same setting started later (line {engine.line:,})"
    return ""


def _is_first(cause: Cause, log: JobLog, failed: Attempt | None) -> bool:
    """Whether no test ran before this one in its process, as far as the job tells."""
    if failed is not None and failed.source is ResultSource.ATTEMPTS and failed.position is not None:
        return failed.position == 0
    session = next((one for one in log.sessions if one.first_line <= cause.line <= one.last_line), None)
    if session is None:
        return not log.sessions
    ran = (session.passed, session.failed, session.errors, session.skipped, session.xfailed, session.xpassed)
    return session.ended and sum(ran) == 1 and not session.rerun
