"""The pytest sessions of a log: which lines are whose, also where a test runs pytest itself."""

from __future__ import annotations

from .commands import CommandQueue
from .landmarks import Landmark
from .marks import Mark
from .pytestcounts import counts, header, is_start, is_summary
from .pytestlines import result_line, started
from .pytestsession import PytestSession


class PytestReader:
    """Feeds marks to the session that they belong to.

    A session that starts while another is at work is that one's test's output, if that one goes on to its own last
    line; otherwise that one had died, and both are sessions of the job.
    """

    def __init__(self) -> None:
        self._open: list[PytestSession] = []
        self._done: list[PytestSession] = []
        self._commands = CommandQueue()

    @property
    def at_work(self) -> bool:
        """Whether a session runs: other runners' lines are its tests' output."""
        return any(session.headed or session.told for session in self._open)

    @property
    def begun(self) -> bool:
        return bool(self._open or self._done)

    def keep(self, data: bytes) -> None:
        """The raw text between two marks, for who wants it."""
        for session in self._open:
            if session.capture is not None:
                session.capture.add(data)

    def see(self, mark: Mark) -> None:
        if mark.kinds & Landmark.COMMAND:
            self._commands.see(mark.text)
        if not mark.kinds & Landmark.PYTEST:
            return
        if b"test session starts" in mark.raw and any(map(is_start, mark.parts)):
            self._start(mark)
        elif self._open or _belongs_to_a_session(mark):
            if not self._open:  # quiet sessions have no first line, and a log may begin in the midst of one
                self._open.append(PytestSession(mark.line, self._commands.next(), headed=None))
            if self._open[-1].see(mark):
                self._end()

    def stop(self, line: int) -> None:
        """No session outlives this line: the command has ended, or the log."""
        for session in self._open:
            session.stop(line)
        while self._open:
            self._close(self._open.pop())

    def sessions(self) -> list[PytestSession]:
        """The job's own sessions, in order."""
        return sorted(
            (session for session in self._done if session.headed or session.told),
            key=lambda session: session.first_line,
        )

    def _start(self, mark: Mark) -> None:
        if self._open and not self._open[-1].busy:
            self.stop(mark.line - 1)
        if self._open:
            self._open[-1].see(mark)
        self._open.append(PytestSession(mark.line, self._commands.next(), headed=True))

    def _end(self) -> None:
        session = self._open.pop()
        session.inner.clear()
        self._close(session)

    def _close(self, session: PytestSession) -> None:
        into = self._open[-1].inner if self._open else self._done
        into += [session, *session.inner]
        session.inner = []


def _belongs_to_a_session(mark: Mark) -> bool:
    """Whether a line outside any session can only be pytest's."""
    if counts(mark.text) is not None or any(result_line(part) or started(part) for part in mark.parts):
        return True
    name = header(mark.text)
    return name is not None and (name in ("FAILURES", "ERRORS") or is_summary(name))
