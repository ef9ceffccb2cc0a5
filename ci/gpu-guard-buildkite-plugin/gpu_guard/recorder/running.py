"""The side where tests run: hooks that see each phase, and make attempts of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, Optional

import pytest

from . import outcome
from .attempts import Tracker, crashed
from .gpuwatch import GpuWatch
from .junit import tuned_words
from .outcome import PhaseResult
from .parcel import Done, Line, parcel_in, parcel_of
from .stamp import rfc3339
from .summary import left_in

Wrapper = Generator[None, Any, None]
PHASES = ("setup", "call", "teardown")


class Running:
    """Follows the tests of one process and posts each finished attempt."""

    def __init__(self, tracker: Tracker, gpu: Optional[GpuWatch], post: Callable[[Done], None]) -> None:
        self._tracker = tracker
        self._gpu = gpu
        self._post = post
        self._home = os.getpid()
        self._began = 0.0
        self._sampled = False
        self._forked: list[Line] = []
        self._properties: list[tuple[str, Any]] = []

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Wrapper:
        self._began = time.time()
        self._sample()
        yield
        self.close()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Wrapper:
        self.close()  # the attempt before, where a plugin runs the test again
        self._sample()
        self._sampled = False
        self._tracker.begin(own_nodeid(item), time.time())
        self._properties = item.user_properties
        yield from self._phase(item, "setup")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        yield from self._phase(item, "call")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Wrapper:
        yield from self._phase(item, "teardown")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Wrapper:
        result = yield
        attempt = self._tracker.open
        if result.excinfo is not None or attempt is None:
            return
        report = result.get_result()
        phase = outcome.of_report(report)
        attempt.report(report.when, phase)
        if phase.fingerprint:
            parcel_of(report)["fingerprint"] = phase.fingerprint
        if attempt.nodeid != item.nodeid:
            parcel_of(report)["nodeid"] = attempt.nodeid
        if report.when == "call" and not report.failed and attempt.covered():
            parcel_of(report)["excused"] = True  # pytest fails it later for its subtests, which are excused
        if report.when == "teardown" and attempt.torn_down:
            self._finish_early(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logfinish(self) -> None:
        # Not earlier: until its protocol is over, pytest itself keeps the values of a test's fixtures alive.
        self.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what came out of a forked test: its attempt, or the news that it crashed."""
        self._forked += parcel_in(report).pop("forked", [])
        if report.when not in PHASES and self._tracker.open is None:
            opening: Line = {"nodeid": report.nodeid, "started_at": rfc3339(self._began)}
            self._forked.append(crashed(opening, outcome.of_report(report), self._tracker.covers))
            parcel_of(report)["crash_told"] = True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Wrapper:
        if self._gpu is None or fixturedef.scope == "function":
            yield
            return
        start = self._gpu.fixture_starts()
        result = yield
        if result.excinfo is None:
            self._gpu.fixture_ready(id(fixturedef), lambda: (fixturedef.cached_result or ())[:1], start)

    @pytest.hookimpl
    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        if self._gpu is not None:
            self._gpu.fixture_gone(id(fixturedef))

    def lowered(self, tuned: Line) -> None:
        """An engine got a lower setting than it asked for: on its attempt, and in every JUnit file that is written."""
        if self._tracker.open is not None:
            self._tracker.open.lowered(tuned)
            self._properties.append(("gpu_guard.tuned", tuned_words(tuned)))

    def close(self) -> None:
        """End what is open and post it."""
        attempt = self._tracker.close()
        lines, self._forked = self._forked, []
        if attempt is None and not lines:
            return
        memory, leak = self._gpu.attempt_ends() if self._gpu is not None else ({}, None)
        self._sampled = False
        line = attempt.record() if attempt is not None else None
        for one in [*lines, *([line] if line is not None else [])]:
            one.update(memory)
            self._post({"line": one, "left_in": left_in(leak, one)})

    def _sample(self) -> None:
        if self._gpu is not None and not self._sampled:
            self._gpu.attempt_starts()
            self._sampled = True

    def _phase(self, item: pytest.Item, name: str) -> Wrapper:
        attempt = self._tracker.open
        if attempt is None:  # a plugin that runs a phase by itself, without a set-up
            yield
            return
        attempt.phase_starts(name)
        started = time.perf_counter()
        result = yield
        seconds = time.perf_counter() - started
        if result.excinfo is None:
            attempt.phase_ends(name, seconds, None)
        elif issubclass(result.excinfo[0], (KeyboardInterrupt, pytest.exit.Exception)):
            self._tracker.close()  # broken off from outside: how it would have ended nobody knows
        else:
            attempt.phase_ends(name, seconds, partial(_unreported, item, result.excinfo))

    def _finish_early(self, report: pytest.TestReport) -> None:
        """Where no memory is watched the attempt is over with its last report; a forked one has no later moment."""
        if os.getpid() != self._home:
            attempt = self._tracker.close()
            line = attempt.record() if attempt is not None else None
            parcel_of(report)["forked"] = [line] if line is not None else []
        elif self._gpu is None:
            self.close()


def own_nodeid(item: pytest.Item) -> str:
    """The node id without the `@group` that `--dist loadgroup` appends: the group does not make another test."""
    groups = {str(mark.args[0] if mark.args else mark.kwargs.get("name", "default")) for mark in _groups(item)}
    suffix = "@" + "_".join(sorted(groups))
    return item.nodeid[: -len(suffix)] if groups and item.nodeid.endswith(suffix) else item.nodeid


def _groups(item: pytest.Item) -> Iterator[pytest.Mark]:
    return item.iter_markers("xdist_group")


def _unreported(item: pytest.Item, excinfo: Any) -> PhaseResult:
    """The result of an exception that no report was made of."""
    kind, value, _ = excinfo
    if issubclass(kind, pytest.skip.Exception):
        return PhaseResult("skipped", str(value))
    if issubclass(kind, pytest.xfail.Exception):
        return PhaseResult("xfailed", str(value))
    return outcome.failure(item.repr_failure(pytest.ExceptionInfo.from_exc_info(excinfo)))
