"""Quarantine at work: an excused failure is run, recorded and shown, and does not fail the session."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from . import outcome
from .parcel import parcel_in, parcel_of
from .quarantine import Entry, Quarantine

CATEGORY = "quarantined"


class Mute:
    """Keeps excused failures out of the count that decides the exit status and `--maxfail`."""

    def __init__(self, quarantine: Quarantine) -> None:
        self._quarantine = quarantine
        self._session: pytest.Session | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        session = self._session
        if session is None or not report.failed or hasattr(report, "wasxfail") or self._entry(report) is None:
            yield
            return
        parcel_of(report)["excused"] = True
        options = session.config.option
        before, most = session.testsfailed, options.maxfail
        options.maxfail = 0  # pytest may not set its stop flag: once set it cannot be unset
        yield
        session.testsfailed, options.maxfail = before, most
        controller: Any = session.config.pluginmanager.get_plugin("dsession")
        if hasattr(controller, "countfailures"):
            controller.countfailures -= 1  # xdist adds one for this report when it returns from here

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        if parcel_in(report).get("excused") and report.when is not None:
            return CATEGORY, "q", ("QUARANTINED", {"yellow": True})
        return None

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        reports = terminalreporter.stats.get(CATEGORY, [])
        if reports:
            terminalreporter.section("quarantined failures", sep="=", yellow=True)
        for report in reports:
            entry = self._entry(report)
            terminalreporter.section(f"{report.nodeid} ({entry or 'its subtests'})", sep="_", yellow=True)
            terminalreporter.write_line(str(report.longrepr or ""))
        for note in self._quarantine.notes:
            terminalreporter.write_line(f"gpu-guard: quarantine {note}", yellow=True)

    def _entry(self, report: pytest.TestReport) -> Entry | None:
        parcel = parcel_in(report)
        known = parcel.get("fingerprint") or outcome.of_report(report).fingerprint
        return self._quarantine.entry(parcel.get("nodeid", report.nodeid), known)
