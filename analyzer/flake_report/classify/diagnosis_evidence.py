"""The evidence of one job, put in order once, so that each of its GPU-memory events finds its own in it."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from flake_report.model.failure import Cause
from flake_report.model.joblog import JobLog
from flake_report.model.record import EngineStart, Leak, MemorySample, SampleMoment
from flake_report.model.results import Attempt, DeviceMemory, ResultSource

from .diagnosis_facts import GIB, Facts

ROUNDING = GIB // 100
"""Two prints of one size, each rounded to 0.01 GiB by its own tool, differ by no more than this."""
STARTED = "started"
"""The outcome of an engine that came up."""
MOST_ENGINES = 500
"""Engine starts that are looked at: each takes seconds, so no real job has more."""


class JobEvidence:
    """What a job's log and recorder tell of GPU memory, ready to be asked for one event after the other."""

    def __init__(self, log: JobLog) -> None:
        self._log = log
        self._workers = any(attempt.worker for attempt in log.attempts)
        self._engines = log.engines[:MOST_ENGINES]
        self._errors: dict[tuple[str | None, int], list[MemorySample]] = defaultdict(list)
        tables: list[MemorySample] = []
        for sample in log.memory:
            if sample.when is SampleMoment.ERROR and sample.free is not None:
                near = sample.free // ROUNDING
                self._errors[sample.test, near].append(sample)
                self._errors[None, near].append(sample)
            elif sample.when in (SampleMoment.JOB_START, SampleMoment.AFTER) and sample.line is not None:
                tables.append(sample)
        alone = len({sample.device for sample in tables if sample.total}) == 1  # else no table says which card it is
        first = [sample for sample in tables if sample.when is SampleMoment.JOB_START]
        self._at_start = first[0] if alone and first else None
        self._lists = [sample for sample in tables if sample.holders] if alone else []

    def of(self, cause: Cause, attempts: Sequence[Attempt]) -> Facts:
        """The facts of one event; `attempts` are those of its test, in order."""
        free, total, asked = _numbers(cause)
        failed = _failed_attempt(attempts)
        before = _device_of(cause, failed)
        if before is not None and _same(before.free_before, free) and _same(before.total, total):
            free, total = before.free_before, before.total
        told = self._told(cause, free, total)
        lists = [one for one in told if one.used is None and (one.holders or one.torch_reserved is not None)]
        return Facts(
            cause=cause,
            free=free,
            total=total,
            asked=asked,
            snapshot=next((one for one in told if one.used is not None and one.torch_reserved is not None), None),
            listed=lists[0] if lists else None,
            attempt=failed,
            before=before,
            at_start=self._at_start,
            late=self._late(cause),
            earlier=self._earlier(cause, free),
            leaks=self._leaks(cause),
            passed_later=self._passed_later(cause, attempts, failed),
            first=self._is_first(cause, failed),
            workers=self._workers or any(attempt.worker for attempt in attempts),
            tested=bool(self._log.sessions or attempts or cause.test),
        )

    def _told(self, cause: Cause, free: int | None, total: int | None) -> list[MemorySample]:
        """Readings that were printed for this very event: the same numbers, and no other test's."""
        if free is None or total is None:
            return []
        named, near = _cuda(cause.captures.get("device")), free // ROUNDING
        tests = [None] if cause.test is None else [cause.test, ""]
        samples = [
            one for test in tests for at in (near - 1, near, near + 1) for one in self._errors.get((test, at), ())
        ]
        return [
            one
            for one in sorted(samples, key=lambda one: one.line or 0)
            if _same(one.free, free) and _same(one.total, total) and not (one.device and named and one.device != named)
        ]

    def _late(self, cause: Cause) -> MemorySample | None:
        """The first table after the event that lists who holds memory."""
        at = bisect_right(self._lists, cause.line, key=lambda one: one.line or 0)
        return self._lists[at] if at < len(self._lists) else None

    def _earlier(self, cause: Cause, free: int | None) -> tuple[EngineStart, ...]:
        """Engines of the same session that had come up before the one that failed."""
        failed = next(
            (
                engine
                for engine in self._engines
                if engine.outcome not in ("", STARTED)
                and engine.test == (cause.test or "")
                and (engine.free is None or free is None or _same(engine.free, free))
            ),
            None,
        )
        if failed is None:
            return ()
        return tuple(
            engine
            for engine in self._engines
            if engine.outcome == STARTED and engine.session == failed.session and engine.line < failed.line
        )

    def _leaks(self, cause: Cause) -> tuple[Leak, ...]:
        """What other tests of the cause's session left; the summary stands in the session, after the event."""
        session = next((one for one in self._log.sessions if one.first_line <= cause.line <= one.last_line), None)
        if session is None:
            return ()
        left = [one for one in self._log.leaks if session.first_line <= one.line <= session.last_line]
        return tuple(sorted((one for one in left if one.test != cause.test), key=lambda one: -one.size))

    def _passed_later(self, cause: Cause, attempts: Sequence[Attempt], failed: Attempt | None) -> str:
        """How the same thing passed later in the job without help; empty where it did not, or was not tried again."""
        if failed is not None:
            for one in attempts:
                together = one.session == failed.session and one.worker == failed.worker
                if together and one.number > failed.number and one.outcome.good:
                    return f"attempt {one.number + 1} of the test passed in the same session"
            return ""
        refused: EngineStart | None = None
        for engine in self._engines if cause.test is None else ():
            if engine.test:
                continue
            if engine.outcome not in ("", STARTED):
                refused = engine
            elif engine.outcome == STARTED and refused is not None and _alike(refused, engine):
                return f"an engine with the same setting started later (line {engine.line:,})"
        return ""

    def _is_first(self, cause: Cause, failed: Attempt | None) -> bool:
        """Whether no test ran before this one in its process, as far as the job tells."""
        if failed is not None and failed.source is ResultSource.ATTEMPTS and failed.position is not None:
            return failed.position == 0
        sessions = self._log.sessions
        at = bisect_right(sessions, cause.line, key=lambda one: one.first_line) - 1
        if at < 0 or cause.line > sessions[at].last_line:
            return not sessions
        one = sessions[at]
        ran = (one.passed, one.failed, one.errors, one.skipped, one.xfailed, one.xpassed)
        return one.ended and sum(ran) == 1 and not one.rerun


def _alike(one: EngineStart, other: EngineStart) -> bool:
    return (one.utilization, one.session) == (other.utilization, other.session)


def _numbers(cause: Cause) -> tuple[int | None, int | None, int | None]:
    """Free, total and asked, in bytes; the allocator's own warning counts them so itself."""
    free, total = cause.captures.get("free_bytes"), cause.captures.get("total_bytes")
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
    text = "" if device is None else str(device)
    return f"cuda:{text}" if text.isdigit() else text


def _same(one: int | None, other: int | None) -> bool:
    """Whether two sizes are one, as far as prints tell; what is not known is no size."""
    return one is not None and other is not None and abs(one - other) <= ROUNDING
