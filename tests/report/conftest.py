"""A history worked out by hand: one flaky test, one victim, one that never failed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from flake_report.model.rate import FlakeRate, Interval, Variant
from flake_report.model.report import FlakeReport, Health, Window
from flake_report.model.results import TestId


def rate(name: str, own: Interval, environment: Interval, signature: str = "") -> FlakeRate:
    variant = Variant(TestId("v1.kv.test_x", name), "kv-connector", "gpu_1_queue", "")
    return FlakeRate(variant, own, environment, rank_low=own.low, signature=signature)


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
    return FlakeReport(Window(datetime(2026, 10, 5, tzinfo=UTC), newest, "main"), tests, health)
