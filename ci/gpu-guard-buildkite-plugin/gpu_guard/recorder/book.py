"""The side that writes: one attempts file and one JUnit file for a session, by the process that the user started."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Optional

import pytest

from . import outbox, outcome
from .attempts import Covers, crashed
from .parcel import Done, Line, parcel_in
from .running import PHASES
from .stamp import rfc3339
from .summary import Passage
from .writer import AttemptsFile


class Book:
    """Numbers attempts, writes them, remembers what the end of the session has to say.

    `apart`: under `--dist each` every worker runs every test, and none of these is a rerun of another. The first line
    says so, because numbers then count by worker.
    """

    def __init__(self, covers: Covers, *, apart: bool = False) -> None:
        self.trouble = ""
        self.passages: list[Passage] = []
        self.tuned: list[Line] = []
        self._file: AttemptsFile | None = None
        self._covers = covers
        self._apart = apart
        self._numbers: dict[tuple[str, str], int] = {}
        self._openings: dict[str, Line] = {}
        self._drafts: dict[str, Line] = {}
        self._started: dict[str, float] = {}
        self._collected: set[str] = set()

    def start(self, open_file: Callable[[], AttemptsFile], first: Line) -> None:
        """Begin the file with the session's line; where that fails the tests run all the same, unrecorded."""
        try:
            self._file = open_file()
            self._file.write({**first, "dist": "each"} if self._apart else first)
        except OSError as error:
            self._give_up(error)

    def add(self, done: Done) -> None:
        """Write a finished attempt."""
        line = done["line"]
        key = (line.get("worker", "") if self._apart else "", line["nodeid"])
        number = self._numbers.get(key, 0)
        self._numbers[key] = number + 1
        self._write({"nodeid": line["nodeid"], "attempt": number, **line})
        self.passages.append(Passage.of(line, done["left_in"]))
        if "tuned" in line:
            self.tuned.append(line)

    def finish(self, exit_status: int) -> Optional[AttemptsFile]:
        """Write the last line and hand out the closed file, if it is whole."""
        for worker in list(self._drafts):
            self._add_draft(worker)
        self._write({"finished_at": rfc3339(time.time()), "exit_status": exit_status})
        file, self._file = self._file, None
        if file is not None:
            file.close()
        return file

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be collected is a test that never ran; pytest's own JUnit has it as one too."""
        result = outcome.of_report(report)
        if result.outcome == "passed" or report.nodeid in self._collected:
            return
        self._collected.add(report.nodeid)
        line: Line = {"nodeid": report.nodeid or ".", "outcome": result.outcome, "phase": "collect"}
        if result.outcome == "failed":
            line["outcome"] = "error"
        self.add({"line": {**line, **outcome.texts(result)}, "left_in": []})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._started[nodeid] = time.time()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Unpack what came from a worker."""
        worker = _worker_of(report)
        parcel = parcel_in(report)
        if "opening" in parcel:
            self._openings[worker] = parcel.pop("opening")
        for done in parcel.pop("done", []):
            self._drafts.pop(worker, None)
            self.add(done)
        if "draft" in parcel:
            self._drafts[worker] = parcel.pop("draft")
        if worker and report.when not in PHASES and not parcel.get("crash_told"):
            self._add_crash(worker, report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        del error
        for done in getattr(node, "workeroutput", {}).get(outbox.KEY, []):
            self._drafts.pop(node.gateway.id, None)
            self.add(done)
        self._add_draft(node.gateway.id)

    def _add_crash(self, worker: str, report: pytest.TestReport) -> None:
        """The worker is dead: what it told when the test started is all there is."""
        opening = self._openings.pop(worker, {})
        if not report.nodeid.startswith(opening.get("nodeid", "\0")):
            opening = {"nodeid": report.nodeid, "worker": worker}
            if report.nodeid in self._started:
                opening["started_at"] = rfc3339(self._started[report.nodeid])
        self.add({"line": crashed(opening, outcome.of_report(report), self._covers), "left_in": []})

    def _add_draft(self, worker: str) -> None:
        draft = self._drafts.pop(worker, None)
        if draft is not None:
            self.add({"line": draft, "left_in": []})

    def _write(self, line: Line) -> None:
        if self._file is None:
            return
        try:
            self._file.write(line)
        except OSError as error:
            self._file.close()
            self._file = None
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.trouble = f"gpu-guard: recording stopped, the tests go on without: {error}"


def _worker_of(report: Any) -> str:
    """The id of the xdist worker that sent a report; empty for this process's own."""
    node = getattr(report, "node", None)
    return str(node.gateway.id) if node is not None else ""
