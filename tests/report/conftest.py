"""A history worked out by hand: one flaky test, one victim, one that never failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pytest
from rich.console import Console, RenderableType

from flake_report.model.evidence import Build
from flake_report.model.rate import FlakeRate, Interval, Retried, Variant, WeekCount
from flake_report.model.report import FlakeReport, Health, Window
from flake_report.model.results import TestId
from flake_report.model.verdict import Breakage, TestVerdict


def build(number: int) -> Build:
    made = datetime(2026, 11, 1, tzinfo=UTC)
    return Build("acme", "ci", str(number), number, f"c{number}", "main", "webhook", made, "failed")


BROKE = Breakage(
    first=build(12), last=build(19), good=build(11), mended=None, earliest=build(12), latest=build(13),
    runs=8, failed=8, job="job-1", fingerprint="f00", signature="timeout",
)  # fmt: skip


def rate(name: str, own: Interval, environment: Interval, signature: str = "") -> FlakeRate:
    variant = Variant(TestId("v1.kv.test_x", name), "kv-connector", "gpu_1_queue", "")
    flaky = bool(own.hits)
    return FlakeRate(
        variant,
        own,
        environment,
        rank_low=own.low,
        signature=signature,
        verdict=TestVerdict.FLAKY if flaky else TestVerdict.HEALTHY,
        reason="build 7 both failed and passed" if flaky else "no failure",
        recovery=Interval(3, 2, 2 / 3, 0.17, 0.96) if flaky else Interval(0, 0, 0.0, 0.0, 1.0),
        retried=Retried(session=1, manual=2) if flaky else Retried(),
        flaky_runs=2 if flaky else 0,
        over_budget=0.98,
        breakages=(BROKE,) if flaky else (),
        trend=(WeekCount("2026-W47", 40, 1, 0), WeekCount("2026-W48", 40, 3, 0)) if flaky else (),
    )


@pytest.fixture
def report() -> FlakeReport:
    tests = (
        rate("test_flaky[a]", Interval(80, 4, 0.05, 0.0170, 0.1151), Interval(80, 0, 0.0, 0.0, 0.031), "timeout"),
        rate("=victim()", Interval(78, 0, 0.0, 0.0, 0.0316), Interval(80, 2, 0.025, 0.0053, 0.0789), "free-memory"),
        rate("test_clean", Interval(80, 0, 0.0, 0.0, 0.031), Interval(80, 0, 0.0, 0.0, 0.031)),
    )
    newest = datetime(2026, 11, 29, 6, 12, tzinfo=UTC)
    health = Health(
        builds=80, jobs=160, jobs_without_results=3, jobs_lost=1, attempts=2000, attempts_unknown=5,
        oldest=None, newest=newest, modes=("all",), warnings=7,
    )  # fmt: skip
    return FlakeReport(Window(datetime(2026, 10, 5, tzinfo=UTC), newest, "main"), tests, health, budget=0.005)


@pytest.fixture(scope="session")
def printed() -> Callable[..., str]:
    """What a terminal of this width shows of the parts; no line is longer."""

    def show(parts: Iterable[RenderableType], width: int = 120) -> str:
        console = Console(width=width, color_system=None, highlight=False, markup=False)
        with console.capture() as captured:
            for part in parts:
                console.print(part)
        assert max(map(len, captured.get().splitlines()), default=0) <= width
        return captured.get()

    return show
