"""What the readers of a log found, put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from flake_report.model.joblog import JobLog, Region, Session, region_at
from flake_report.model.results import Attempt, ParseWarning

from .exitstatus import ExitReader
from .gpulog import GpuReader
from .pytestresults import PytestResults, attempts_of, regions_of, results, session_of, warnings_of
from .pytestsession import PytestSession
from .runnersession import RunnerSession, as_attempts, as_session
from .sessionkey import numbered, session_key


@dataclass(frozen=True, slots=True)
class _Where:
    """Session and test of a line; sessions are numbered from 1 in the order of their first lines."""

    sessions: Sequence[Session]
    regions: Sequence[Region]

    def __call__(self, line: int) -> tuple[str, str]:
        region = region_at(self.regions, line)
        for ordinal, session in enumerate(self.sessions, 1):
            if session.first_line <= line <= session.last_line:
                return str(ordinal), region.test if region else ""
        return "", ""


def assemble(
    lines: int,
    *,
    ended: ExitReader,
    pytest: Iterable[PytestSession],
    others: Iterable[RunnerSession],
    gpu: GpuReader,
    warnings: Iterable[ParseWarning],
) -> JobLog:
    """The outline: sessions of all runners in one row, their attempts in the same order."""
    found: list[PytestResults | RunnerSession] = [*map(results, pytest), *others]
    found.sort(key=lambda one: one.first_line)
    over = ended.status is not None or bool(ended.signal)
    keys = numbered("" if isinstance(one, RunnerSession) else session_key(one.session.command) for one in found)
    attempts: list[Attempt] = []
    warned = list(warnings)
    for ordinal, (one, key) in enumerate(zip(found, keys, strict=True), 1):
        if isinstance(one, RunnerSession):
            attempts += as_attempts(one, ordinal)
        else:
            attempts += attempts_of(one, ordinal, key, died=over or ordinal < len(found))
            warned += warnings_of(one)
    sessions = [
        replace(as_session(one) if isinstance(one, RunnerSession) else session_of(one.session), key=key)
        for one, key in zip(found, keys, strict=True)
    ]
    regions = regions_of([one for one in found if isinstance(one, PytestResults)])
    where = _Where(sessions, regions)
    return JobLog(
        lines=lines,
        exit_status=ended.status,
        signal=ended.signal,
        sessions=tuple(sessions),
        attempts=tuple(attempts),
        warnings=tuple(warned),
        regions=regions,
        memory=gpu.memory(where),
        engines=gpu.engines(where),
        leaks=gpu.leaks(where),
    )
