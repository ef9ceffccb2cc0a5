"""One pytest session while its lines come in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from .marks import KEPT_BYTES, KEPT_LEAST, KEPT_OF_ALL, KEPT_RESULTS, KEPT_SUMMARY_BYTES, Capture, Mark
from .pytestattempts import Seen
from .pytestcounts import counts, header, is_summary
from .pytestfailures import FailureText, failure_title
from .pytestlines import Ending, Hold, ResultLine, Section, ending, result_line, started
from .pytestsummary import SummaryEntry, summary_entries

_WORKERS = re.compile(r"\d+ workers? \[\d+ items?\]|scheduling tests via ")
_FATAL = re.compile(r"Fatal Python error: .*|\+{5,} Timeout \+{5,}$")
_SECTIONS = {"FAILURES": Section.FAILURES, "ERRORS": Section.FAILURES}
_OTHERS = ("warnings summary", "PASSES", "XFAILURES", "XPASSES", "slowest ", "rerun test summary", "tests coverage",
           "xdist: ", "coverage: ")  # fmt: skip


@dataclass(slots=True)
class _Running:
    """A test whose outcome word has not come yet, and the words since that may be it."""

    nodeid: str
    line: int
    at: datetime | None
    words: list[tuple[int, Ending]] = field(default_factory=list)

    @property
    def best(self) -> tuple[int, Ending] | None:
        """Of the words that most speaks for, the last one: what comes before is the test's own output."""
        return max(self.words, key=lambda one: (one[1].hold, one[0]), default=None)


class PytestSession:
    """What the marks of one session say, until its last line. `headed` is None where the log begins inside it."""

    def __init__(self, line: int, command: str, *, headed: bool | None) -> None:
        self.first_line = line
        self.last_line = line
        self.command = command
        self.headed = headed
        self.counts: dict[str, int] | None = None
        self.seen: list[Seen] = []
        self.failures: list[FailureText] = []
        self.entries: list[SummaryEntry] = []
        self.warnings: list[tuple[str, int]] = []
        self.inner: list[PytestSession] = []
        self.capture: Capture | None = None
        self.fatal: tuple[int, str] | None = None
        self.overflow = False
        self._section = Section.RUN
        self._running: _Running | None = None
        self._xdist = False
        self._kept = 0

    @property
    def ended(self) -> bool:
        return self.counts is not None

    @property
    def told(self) -> bool:
        """Whether anything but the start of a test was seen: a list of node ids is no session."""
        return bool(self.ended or self.seen or self.failures or self.entries)

    @property
    def busy(self) -> bool:
        """Whether a session that starts now may be the output of one of this one's tests."""
        return self._section is Section.FAILURES or self._running is not None or not self.seen

    @property
    def unfinished(self) -> str:
        """The test that was running when the log stopped or the session died; empty where none was."""
        if self._running is None or self._xdist:
            return ""
        best = self._running.best
        return self._running.nodeid if best is None or best[1].hold is Hold.LAST else ""

    @property
    def unfinished_line(self) -> int:
        return self._running.line if self._running else self.last_line

    def see(self, mark: Mark) -> bool:
        """Takes in a mark; true when it is the session's last line."""
        last = counts(mark.text)
        if last is not None and self.headed in (None, mark.text.startswith("=")):
            self._close_section(mark.line)
            self.counts, self.last_line = last, mark.line
            return True
        self.last_line = mark.line
        name = header(mark.text)
        if name is not None and self._see_header(name, mark):
            return False
        if self._section is Section.RUN:
            self._see_run(mark)
        elif self._section is Section.FAILURES:
            self._see_failure(mark)
        return False

    def stop(self, line: int) -> None:
        """The log or the command ends without the session's last line."""
        self._close_section(line + 1)
        self.last_line = line

    def _see_header(self, name: str, mark: Mark) -> bool:
        section = _SECTIONS.get(name)
        if section is None and is_summary(name):
            section = Section.SUMMARY
        elif section is None and name.startswith(_OTHERS):
            section = Section.OTHER
        if section is None:
            return False
        self._close_section(mark.line)
        self._section = section
        if section is Section.SUMMARY:
            self.capture = Capture(mark.line, KEPT_SUMMARY_BYTES)
        return True

    def _see_run(self, mark: Mark) -> None:
        if self.fatal is None and (fatal := _FATAL.search(mark.text)):
            self.fatal = (mark.line, fatal[0].strip("+ "))
        if _WORKERS.match(mark.text):
            self._xdist = True
        found = None
        for part in mark.parts:
            found = result_line(part)
            if found is not None:
                self._finish(found, mark)
            elif not self._xdist and (nodeid := started(part)) is not None:
                self._settle()
                self._running = _Running(nodeid, mark.line, mark.at)
        if self._running is not None and found is None:
            nodeid = self._running.nodeid
            word = ending(mark.text, len(nodeid) + 1 if mark.text.startswith(f"{nodeid} ") else 0)
            if word is not None:
                self._running.words.append((mark.line, word))

    def _finish(self, found: ResultLine, mark: Mark) -> None:
        running, first, at = self._running, mark.line, mark.at
        if found.worker:
            self._xdist, at = True, None
        elif running is not None and running.nodeid == found.nodeid and not running.words:
            first, at = running.line, running.at
            self._running = None
        self._settle()
        if found.sure:
            self._add(Seen(found.nodeid, found.word, mark.line, first, found.worker, found.seconds, at, found.reason))
        else:
            self._running = _Running(
                found.nodeid, first, at, [(mark.line, Ending(found.word, Hold.ALONE, found.reason))]
            )

    def _settle(self) -> None:
        """The running test is over."""
        running, self._running = self._running, None
        best = running.best if running is not None else None
        if running is None or best is None:
            return
        line, word = best
        others = tuple(one.word for _, one in running.words) if len(running.words) > 1 else ()
        self._add(Seen(running.nodeid, word.word, line, running.line, at=running.at, reason=word.reason, others=others))

    def _add(self, seen: Seen) -> None:
        if len(self.seen) < KEPT_RESULTS:
            self.seen.append(seen)
        elif not self.overflow:
            self.overflow = True
            self.warnings.append((f"more than {KEPT_RESULTS:,} result lines: the rest is left out", seen.line))

    def _see_failure(self, mark: Mark) -> None:
        title = failure_title(mark.text)
        if title is not None:
            self._close_failure(mark.line)
            self.failures.append(FailureText(title[0], title[1], mark.line, heading=mark.text))
            self.capture = Capture(mark.line, max(min(KEPT_BYTES, KEPT_OF_ALL - self._kept), KEPT_LEAST))

    def _close_failure(self, line: int) -> None:
        if self.capture is not None and self.failures and not self.failures[-1].last_line:
            self.failures[-1].last_line = line - 1
            self.failures[-1].told(self.capture.lines()[1:])
            self._kept += self.capture.kept
        self.capture = None

    def _close_section(self, line: int) -> None:
        if self._section is Section.RUN and not self.unfinished:
            self._settle()
        elif self._section is Section.FAILURES:
            self._close_failure(line)
        elif self._section is Section.SUMMARY and self.capture is not None:
            self.entries += summary_entries(self.capture.lines()[1:], self.capture.first_line + 1)
            if not self.capture.whole:
                self.warnings.append(("the short summary is too long to be kept whole", self.capture.first_line))
            self.capture = None
        self._section = Section.OTHER
