"""Attempts while they run: which phase of which test is on, what it reported, when an attempt is over.

Rerun plugins differ in what they let pytest report. pytest-rerunfailures and flaky run the whole protocol again;
pytest-retry calls the hooks of set-up, call and teardown from inside the report of the first call, and reports only
the end. All of them begin each attempt with the set-up hook, so that is where an attempt begins here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Optional

from . import outcome
from .outcome import PhaseResult
from .parcel import Line
from .stamp import rfc3339

Raw = Optional[Callable[[], PhaseResult]]
"""Makes a result of an exception that no report was made of; calling it is slow, so only where it is needed."""


Covers = Callable[[str, str], bool]
"""Whether quarantine covers a failure, by node id and fingerprint."""


class Attempt:
    """One attempt of one test, from the start of its set-up."""

    def __init__(self, nodeid: str, started_at: float, position: int, worker: str, covers: Covers) -> None:
        self.nodeid = nodeid
        self.started_at = started_at
        self.position = position
        self.pid = os.getpid()
        self.worker = worker
        self.tuned: Line | None = None
        self.seconds = 0.0
        self.torn_down = False
        self._phases: dict[str, PhaseResult] = {}
        self._parts: list[PhaseResult] = []  # failed subtests: the call may pass all the same
        self._running = ""
        self._raw: dict[str, Callable[[], PhaseResult]] = {}
        self._covers = covers

    def phase_starts(self, phase: str) -> None:
        """A phase's hook is entered."""
        if phase == "teardown":
            self._settle_raw()
        self._running = phase

    def phase_ends(self, phase: str, seconds: float, raw: Raw) -> None:
        """A phase's hook is left; `raw` where it raised."""
        self._running = ""
        self.seconds += seconds
        self.torn_down = self.torn_down or phase == "teardown"
        if raw is not None:
            self._raw[phase] = raw
        elif phase not in self._phases:
            self._phases[phase] = PhaseResult("passed")

    def report(self, phase: str, result: PhaseResult) -> None:
        """A report was made of a phase. Inside a running call it is that of a subtest."""
        if self._running == "call" and phase == "call":
            if result.outcome == "failed":
                self._parts.append(result)
            return
        self._raw.pop(phase, None)
        self._phases[phase] = result

    def record(self) -> Line | None:
        """The attempt as a line of the file; None where it was broken off undecided."""
        self._settle_raw()
        phases = dict(self._phases)
        call = phases.get("call")
        if self._parts and call is not None and call.outcome != "failed":
            text = "\n\n".join(part.text for part in self._parts)
            phases["call"] = self._parts[0]._replace(text=text)
        decided = outcome.verdict(phases)
        if decided is None:
            return None
        line = self.opening()
        line.update(outcome=decided.outcome, phase=decided.phase, seconds=round(self.seconds, 6))
        line.update(outcome.texts(decided.result))
        if self.tuned is not None:
            line["tuned"] = self.tuned
        if self.covered():
            line["quarantined"] = True
        return line

    def lowered(self, tuned: Line) -> None:
        """An engine of this attempt got less than it asked for; the lowest counts where there are several."""
        if self.tuned is None or tuned["to"] < self.tuned["to"]:
            self.tuned = tuned

    def covered(self) -> bool:
        """Whether something failed so far, and quarantine covers all of it."""
        failed = [result for result in (*self._phases.values(), *self._parts) if result.outcome == "failed"]
        return bool(failed) and all(self._covers(self.nodeid, result.fingerprint) for result in failed)

    def opening(self) -> Line:
        """What is known from the start: enough to write the attempt of a process that died."""
        line: Line = {"nodeid": self.nodeid, "position": self.position, "pid": self.pid}
        if self.worker:
            line["worker"] = self.worker
        line["started_at"] = rfc3339(self.started_at)
        return line

    def _settle_raw(self) -> None:
        """Turn exceptions that were never reported into results, and let go of them and of their frames."""
        for phase, make in self._raw.items():
            self._phases[phase] = make()
        self._raw.clear()


class Tracker:
    """The attempts of one process, in order of their start."""

    def __init__(self, worker: str, covers: Covers) -> None:
        self.open: Attempt | None = None
        self.covers = covers
        self._worker = worker
        self._pid = os.getpid()
        self._next = 0

    def begin(self, nodeid: str, started_at: float) -> Attempt:
        """Start an attempt. The one before must have been closed."""
        if os.getpid() != self._pid:  # a forked child counts for itself
            self._pid, self._next = os.getpid(), 0
        self.open = Attempt(nodeid, started_at, self._next, self._worker, self.covers)
        self._next += 1
        return self.open

    def close(self) -> Attempt | None:
        """End the open attempt and return it, if there is one."""
        attempt, self.open = self.open, None
        return attempt


def crashed(opening: Line, result: PhaseResult, covers: Covers) -> Line:
    """The line of a test whose process died, from what is known of its start and from somebody else's report."""
    ended = "crashed" if result.outcome == "failed" else result.outcome  # under xfail a crash is expected
    line: Line = {**opening, "outcome": ended, **outcome.texts(result)}
    if ended == "crashed" and covers(line["nodeid"], result.fingerprint):
        line["quarantined"] = True
    return line
