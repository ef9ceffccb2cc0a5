"""Begins a recorded session in whichever process this is: the one the user started, or an xdist worker."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional

import pytest

from gpu_guard.memory import Meter, open_meter

from .attempts import Tracker
from .book import Book
from .header import file_stem, header
from .junit import write_junit
from .mute import Mute
from .options import Options, read_options
from .outbox import KEY, Outbox
from .quarantine import Quarantine, QuarantineError, read_quarantine
from .stamp import session_id
from .station import OWNER, Station
from .summary import leak_lines
from .writer import new_attempts_file

_recording = False  # in this very process: a pytest that a test calls as a function is no session of its own


def begin(config: pytest.Config) -> None:
    """Record this session, unless it runs inside a test of a recorded one."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        config.pluginmanager.register(WorkerSession(config, worker), "gpu-guard session")
    elif not _recording and _own_process(os.environ.get(OWNER, "")):
        config.pluginmanager.register(MainSession(config), "gpu-guard session")


class MainSession:
    """The session in the process that the user started: it writes, and runs the tests unless xdist's workers do."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._options = read_options(config, os.environ)
        self._notes: list[str] = []
        self._quarantine = self._read_quarantine()
        covers = self._quarantine.covers
        self._book = Book(covers, apart=config.getoption("dist", default="no") == "each")
        self._tracker = Tracker("", covers)
        self._station: Station | None = None
        self._meter: Meter | None = None
        config.pluginmanager.register(self._book, "gpu-guard book")
        if self._options.quarantine is not None:
            config.pluginmanager.register(Mute(self._quarantine), "gpu-guard mute")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        global _recording  # noqa: PLW0603  # one fact about the process
        _recording = True
        now = time.time()
        session = session_id(now, os.getpid())
        meter = self._meter = open_meter(os.environ)
        first = header(
            session=session,
            started_at=now,
            arguments=[str(argument) for argument in self._config.invocation_params.args],
            devices=meter.devices,
            environ=os.environ,
        )
        stem = file_stem(session, os.environ)
        self._book.start(lambda: new_attempts_file(self._folder, stem), first)
        if self._config.pluginmanager.has_plugin("dsession"):
            meter.close()
            return
        self._station = Station(self._options, self._tracker, meter, session)
        self._station.start(self._config, self._book.add)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker is about to start: it follows the options of this session, wherever it runs."""
        quarantine = self._options.quarantine
        node.workerinput[KEY] = {
            "clean": self._options.clean,
            "tune": self._options.tune,
            "quarantine": None if quarantine is None else str(quarantine),
        }

    @pytest.hookimpl
    def pytest_report_header(self) -> str:
        """Where it goes, and what reads the memory."""
        source = self._meter.source if self._meter is not None else "not read"
        return f"gpu-guard: recording to {self._folder}; GPU memory: {source}"

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        global _recording  # noqa: PLW0603  # one fact about the process
        if self._station is not None:
            self._station.stop()
        yield
        _recording = False
        file = self._book.finish(int(session.exitstatus))
        if file is None:
            return
        try:
            write_junit(
                file.path, file.path.with_name(file.path.name.replace("attempts-", "junit-", 1)).with_suffix(".xml")
            )
        except OSError as error:
            self._say(f"gpu-guard: no JUnit file: {error}")

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        lines = [*self._notes, *([self._book.trouble] if self._book.trouble else [])]
        lines += leak_lines(self._book.passages)
        lines += [_tuned_sentence(line) for line in self._book.tuned]
        if lines:
            terminalreporter.section("gpu-guard", sep="=")
        for line in lines:
            terminalreporter.write_line(line)

    @property
    def _folder(self) -> Path:
        return self._options.folder or Path()

    def _read_quarantine(self) -> Quarantine:
        today = datetime.now(timezone.utc).date()
        if self._options.quarantine is None:
            return Quarantine([], step="", queue="", today=today)
        try:
            return read_quarantine(self._options.quarantine, os.environ, today)
        except QuarantineError as error:
            self._notes.append(f"quarantine is not applied: {error}")
            return Quarantine([], step="", queue="", today=today)

    def _say(self, sentence: str) -> None:
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(sentence)


class WorkerSession:
    """The session in an xdist worker: it runs tests and sends what it finds with its reports."""

    def __init__(self, config: pytest.Config, workerinput: dict[str, Any]) -> None:
        self._config = config
        given = workerinput[KEY]
        file = None if given["quarantine"] is None else Path(given["quarantine"])
        self._options = Options(clean=given["clean"], tune=given["tune"], quarantine=file)
        quarantine = _quarantine_or_none(file)
        self._tracker = Tracker(str(workerinput.get("workerid", "")), quarantine.covers)
        self._station: Station | None = None
        if file is not None:
            config.pluginmanager.register(Mute(quarantine), "gpu-guard mute")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        station = self._station = Station(
            self._options, self._tracker, open_meter(os.environ), session_id(time.time(), os.getpid())
        )
        outbox = Outbox(self._config, self._tracker, station.gpu.opening if station.gpu is not None else None)
        self._config.pluginmanager.register(outbox, "gpu-guard outbox")
        station.start(self._config, outbox.post)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        if self._station is not None:
            self._station.stop()


def _quarantine_or_none(file: Optional[Path]) -> Quarantine:
    """What the controller already complained about is not said again by each worker."""
    today = datetime.now(timezone.utc).date()
    if file is not None:
        try:
            return read_quarantine(file, os.environ, today)
        except QuarantineError:
            pass
    return Quarantine([], step="", queue="", today=today)


def _own_process(owner: str) -> bool:
    return not owner or owner.rpartition("-")[2] == str(os.getpid())


def _tuned_sentence(line: dict[str, Any]) -> str:
    tuned = line["tuned"]
    free, total = tuned["free"] / 2**30, tuned["total"] / 2**30
    return (
        f"{line['nodeid']} got gpu_memory_utilization {tuned['to']} instead of {tuned['from']}: "
        f"{free:.2f} of {total:.2f} GiB were free"
    )
