"""What a history's report says of GPU memory: each part only where there is something to say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from flake_report.model.cost import Cost
from flake_report.model.memory import (
    GIB,
    Basis,
    Diagnosed,
    Fit,
    MemoryReport,
    Place,
    Refusal,
    Suspect,
    Suspicion,
    Tuning,
)
from flake_report.report import memory as page

PLACE = Place("kv", "l4")
REFUSAL = Refusal("7", "j", datetime(2026, 11, 2, tzinfo=UTC), 0.5, 4 * GIB, 11 * GIB, 22 * GIB)
COST = Cost(1, 0, 2.0, 0.0, None, 2.0, 0, 0, ())


def suspicion(at: int) -> Suspicion:
    return Suspicion(
        Place(f"step-{at}", "l4"), 2, 9, "m::v", Basis.SAMPLES, Suspect("m::a", left=GIB, times=2), measured=2
    )


@pytest.fixture
def whole(report):
    tuning = Tuning("m::v", PLACE, 22 * GIB, "cuda:0", 9, (REFUSAL,), (), 0.01, Fit.CLEAN)
    memory = MemoryReport(
        suspicions=tuple(suspicion(at) for at in range(3)),
        tunings=(tuning, replace(tuning, refusals=(), fit=Fit.SEEN, advised=0.5)),
        diagnoses=(
            Diagnosed("undetermined", PLACE, 1, 1),
            Diagnosed("same-process", PLACE, 2, 1),
            Diagnosed("same-process", Place("core", "l4"), 1, 1),
        ),
    )
    return replace(report, memory=memory, cost=COST)


def test_a_report_without_gpus_says_nothing_of_them(report, printed):
    assert printed(page.to_text(report, everything=True)) == ""
    assert page.to_json(report) == {"culprits": [], "tuning": [], "diagnoses": [], "cost": None}


def test_the_first_places_are_told_and_the_others_counted(whole, printed):
    text = printed(page.to_text(whole, everything=False))
    assert ("step-1" in text, "step-2" in text) == (True, False)
    assert "… 1 more place with incidents of GPU memory; --all shows them" in text
    assert "step-2" in printed(page.to_text(whole, everything=True))


def test_diagnoses_are_added_up_over_places(whole, printed):
    assert "diagnosed: 3 same-process · 1 undetermined" in printed(page.to_text(whole, everything=False))
    assert [one["events"] for one in page.to_json(whole)["diagnoses"]] == [1, 2, 1]


def test_only_tests_that_were_refused_are_sent_to_tune(whole, printed):
    assert "1 test refused memory: flake-report tune tells which setting fits" in printed(
        page.to_text(whole, everything=False)
    )
    assert len(page.to_json(whole)["tuning"]) == 2


def test_a_test_that_was_refused_on_cards_of_two_sizes_is_one_test(whole, printed):
    first, *others = whole.memory.tunings
    two = replace(whole.memory, tunings=(first, replace(first, total=80 * GIB), *others))
    assert "1 test refused memory" in printed(page.to_text(replace(whole, memory=two), everything=False))


def test_cost_is_told_where_something_was_lost(whole, printed):
    assert "2.0 GPU-hours, 2.0 in 1 failed job" in printed(page.to_text(whole, everything=False))
    without_gpus = replace(whole, cost=replace(COST, failed_hours=0.0, money=4.5))
    assert "0.0 GPU-hours, 0.0 in 1 failed job, 0.0 in 0 retries · 4.50" in printed(
        page.to_text(without_gpus, everything=False)
    )
    nothing = replace(whole, cost=replace(COST, failed_hours=0.0))
    assert "GPU-hours" not in printed(page.to_text(nothing, everything=False))
