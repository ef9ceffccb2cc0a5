"""The memory that the recorder measured around attempts, as samples like those of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from flake_report.model.record import MemorySample, SampleMoment
from flake_report.model.results import Attempt, DeviceMemory, Holder


def samples_of(attempts: Iterable[Attempt]) -> Iterator[MemorySample]:
    """A sample before and one after each attempt for each device; none where nothing was measured.

    The recorder counts a holder's bytes over all devices. Where there is one device they are that device's; else they
    make a sample of their own, of no known device.
    """
    for attempt in attempts:
        if attempt.memory or attempt.holders:
            yield from _around(attempt, nodeid(attempt))


def _around(attempt: Attempt, test: str) -> Iterator[MemorySample]:
    alone = len(attempt.memory) == 1
    for one in attempt.memory:
        if _measured(one.free_before, one.used_before, one.torch_reserved_before):
            yield _before(one, test)
        holders = attempt.holders if alone else ()
        if holders or _measured(one.free_after, one.used_after, one.torch_reserved_after):
            yield _after(one, holders, test)
    if attempt.holders and not alone:
        at = _latest([one.at_after for one in attempt.memory])
        yield MemorySample(at, "", SampleMoment.AFTER, holders=attempt.holders, test=test)


def _before(one: DeviceMemory, test: str) -> MemorySample:
    return MemorySample(
        at=one.at_before,
        device=one.device,
        when=SampleMoment.BEFORE,
        free=one.free_before,
        total=one.total,
        used=one.used_before,
        torch_reserved=one.torch_reserved_before,
        test=test,
    )


def _after(one: DeviceMemory, holders: tuple[Holder, ...], test: str) -> MemorySample:
    return MemorySample(
        at=one.at_after,
        device=one.device,
        when=SampleMoment.AFTER,
        free=one.free_after,
        total=one.total,
        used=one.used_after,
        torch_reserved=one.torch_reserved_after,
        holders=holders,
        test=test,
    )


def _measured(*sizes: int | None) -> bool:
    return any(size is not None for size in sizes)


def _latest(times: Sequence[datetime | None]) -> datetime | None:
    return max((time for time in times if time is not None), default=None)


def nodeid(attempt: Attempt) -> str:
    """The test as pytest names it, which is how samples of the log name it: its file, its classes, its name."""
    if not attempt.test.classname:  # a file that could not be collected
        return attempt.file
    module = attempt.file.replace("/", ".").removesuffix(".py").removeprefix("tests.")
    classes = attempt.test.classname.removeprefix(module).split(".")[1:]
    return "::".join([attempt.file, *classes, attempt.test.name])
