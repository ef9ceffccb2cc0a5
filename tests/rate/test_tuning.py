"""Which setting fits: the two known failures worked by hand, and what must hold for any starts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.memory import GIB, Fit, Place, Start, Tuning, largest_utilization
from flake_report.rate.tuning import tunings

L4 = round(22.05 * GIB)
HMA = "v1.kv_connector.unit.test_nixl_connector_hma::test_fewer_blocks_with_hma[google/gemma-3-1b-it-512]"
DAY = datetime(2026, 4, 1, tzinfo=UTC)


def start(build: int, utilization: float, free: float | None = None, **fields: Any) -> Start:
    """A start in a build; with `free` it was refused, without it came up. Sizes are printed with two decimals."""
    given = {
        "test": HMA,
        "place": Place("kv-connectors", "gpu_1_queue"),
        "build": str(build),
        "job": f"job-{build}",
        "created_at": DAY + timedelta(days=build),
        "utilization": utilization,
        "refused": free is not None,
        "up": free is None,
        "free": None if free is None else round(free * GIB),
        "total": None if free is None else L4,
        "requested": None if free is None else round(round(22.05 * utilization, 2) * GIB),
        "device": "cuda:0",
    }
    return Start(**{**given, **fields})


def tuned(starts: list[Start], **options: Any) -> Tuning:
    (only,) = tunings(starts, budget=options.pop("budget", 0.005), **options)
    return only


def known_failures(passes_before: int = 0, passes_after: int = 0) -> list[Start]:
    """0.5 refused with 10.93 GiB free, then 0.47 refused with 4.51 GiB free; passes at both settings."""
    return [
        *(start(at, 0.5) for at in range(passes_before)),
        start(50, 0.5, 10.93),
        *(start(60 + at, 0.47) for at in range(passes_after)),
        start(200, 0.47, 4.51),
    ]


def test_the_worked_example_by_hand():
    found = tuned(known_failures(), tried=[0.3])
    assert found.fit is Fit.SEEN
    assert found.advised == 0.2
    would = {risk.utilization: [one.free < risk.asks for one in found.refusals] for risk in found.risks}
    assert would == {0.5: [True, True], 0.47: [False, True], 0.3: [False, True], 0.2: [False, False]}
    assert {risk.utilization: round(risk.asks / GIB, 2) for risk in found.risks} == {
        0.5: 11.03,  # vLLM printed 11.02 for it: what was asked is taken from the log, what would be is counted
        0.47: 10.36,
        0.3: 6.62,
        0.2: 4.41,
    }


def test_only_the_first_failure_looks_like_an_engine_of_an_earlier_test():
    first, second = tuned(known_failures()).refusals
    assert (first.mirrored, second.mirrored) == (True, False)
    assert round(first.used / GIB, 2) == 11.12
    assert round(second.used / GIB, 2) == 17.54


def test_if_an_earlier_engine_shrinks_with_the_setting_a_little_less_is_enough():
    found = tuned([start(1, 0.5, 10.93)])
    assert found.advised == 0.49
    assert found.mirrored_advice == 0.49  # (10.93 + 11.02) / 2 = 10.975 of 22.05: 0.4977
    far = tuned([start(1, 0.5, 10.80), start(2, 0.5)])
    assert (far.advised, far.mirrored_advice) == (0.48, 0.49)
    assert tuned([start(200, 0.47, 4.51)]).mirrored_advice is None


def test_what_may_shrink_is_advised_for_no_setting_above_todays_and_none_that_the_test_does_not_fit():
    later = tuned([start(1, 0.5, 10.80), start(2, 0.3)])
    assert (later.advised, later.mirrored_advice) == (0.3, 0.3)
    # (10.80 + 11.02) / 2 is 10.91 GiB, of which 10.90 are left after rounding; a test that needs 11.5 does not fit.
    tight = tuned([start(1, 0.5, 10.80), start(2, 0.5, base=round(11.5 * GIB))])
    assert (tight.fit, tight.mirrored_advice) == (Fit.CLEAN, None)


def test_risks_with_passes_are_those_of_kaplan_and_meier():
    found = tuned(known_failures(49, 99))
    rates = {risk.utilization: risk.rate for risk in found.risks}
    assert rates == pytest.approx({0.5: 1 - 149 / 150 * 49 / 50, 0.47: 1 / 150, 0.2: 0})
    assert found.starts == 150
    assert found.fit is Fit.SEEN


def test_enough_passes_certify_a_budget_and_fewer_do_not():
    assert tuned([start(at, 0.5) for at in range(200)], budget=0.01).fit is Fit.CERTIFIED
    few = tuned([start(at, 0.5) for at in range(180)], budget=0.01)
    assert (few.fit, few.advised, few.refusals) == (Fit.SEEN, 0.5, ())
    assert 185 < few.needed_passes < 195


def test_a_lower_setting_can_be_certified_by_passes_at_a_higher_one():
    found = tuned([*(start(at, 0.5) for at in range(400)), start(500, 0.5, 10.93)], budget=0.005)
    assert found.fit is Fit.CERTIFIED
    assert found.advised == 0.49


def test_what_the_test_needs_bounds_the_advice_and_tells_what_must_go_first():
    starts = [start(1, 0.47, base=round(6.6 * GIB), kv=round(3.77 * GIB)), start(2, 0.47, 4.51)]
    found = tuned(starts)
    assert (found.fit, found.advised) == (Fit.CLEAN, None)
    assert found.leftover / GIB == pytest.approx(6.6 - 4.51)
    assert found.least_kv == round(3.77 * GIB)
    assert found.floor == 0.47


def test_the_need_is_what_an_engine_asked_for_less_its_cache_where_it_told_of_its_weights_alone():
    # As vLLM told of a model of 1.93 GiB on an L4 of 22.05: 0.47 asks for 10.36 and left 7.80 for the KV cache.
    weights = {"base": round(1.93 * GIB)}
    clean = start(1, 0.47, kv=round(7.80 * GIB), **weights)
    squeezed = start(2, 0.47, kv=round(5.00 * GIB), **weights)  # a neighbour grew while it measured
    found = tuned([clean, squeezed, start(3, 0.47, 4.51)])
    assert (found.need or 0) / GIB == pytest.approx(10.36 - 7.80, abs=0.01)
    assert tuned([clean, squeezed]).need == weights["base"]  # nobody said how large the card is
    assert tuned([start(1, 0.47), start(2, 0.47, 4.51)]).need is None


def test_nothing_fits_where_nothing_is_free():
    assert tuned([start(1, 0.5, 0.0)]).fit is Fit.CLEAN


def test_starts_that_come_together_count_as_many():
    apart = tuned([*(start(at, 0.5) for at in range(40)), start(50, 0.5, 10.93)])
    together = tuned([start(39, 0.5, count=40), start(50, 0.5, 10.93)])
    assert together == apart


def test_cards_and_pools_stand_apart():
    h100 = Place("kv-connectors", "h100")
    big = [start(at, 0.5, 30.0, place=h100, total=80 * GIB) for at in range(2)]
    mixed = [start(9, 0.5, 30.0, total=80 * GIB), start(10, 0.5, 10.93), start(11, 0.5)]
    found = tunings([*big, *mixed], budget=0.01)
    assert sorted((one.place.queue, round(one.total / GIB), one.starts) for one in found) == [
        ("gpu_1_queue", 22, 1),
        ("gpu_1_queue", 80, 1),
        ("h100", 80, 2),
    ]
    assert [one.ignored for one in found if one.place.queue == "gpu_1_queue"] == [1, 1]


def test_a_sample_that_counts_the_drivers_share_is_of_the_same_card():
    # nvidia-smi shows 23,034 MiB of an L4, of which CUDA has 22.05 GiB: 2.01 % more.
    sampled = [start(at, 0.5, total=23_034 << 20) for at in range(5)]
    found = tuned([*sampled, start(9, 0.5, 10.93)])
    assert (found.starts, found.total) == (6, L4)
    assert tuned(sampled).total == 23_034 << 20


def test_a_refusal_stays_one_where_rounding_shows_enough_free():
    found = tuned([start(1, 0.5, 11.03), start(2, 0.5)])
    (risk,) = [one for one in found.risks if one.utilization == 0.5]
    assert risk.rate == 0.5


def test_a_start_that_failed_later_had_the_memory_it_asked_for():
    later = start(2, 0.1, up=False)
    found = tuned([start(1, 0.5), later])
    assert found.starts == 2
    assert found.floor == 0.5
    assert {risk.utilization: risk.rate for risk in found.risks} == {0.5: 0, 0.1: 0}


def test_free_memory_that_a_pass_tells_is_known_exactly():
    passing = [start(at, 0.5, free=round(20 * GIB), refused=False, up=True, total=L4) for at in range(1, 30)]
    found = tuned([*passing, start(50, 0.5, 10.93)])
    (risk,) = [one for one in found.risks if one.utilization == 0.5]
    assert risk.rate == pytest.approx(1 / 30)
    assert tuned(passing, tried=[0.9]).risks[0].known


@given(st.floats(0, 30), st.floats(0.1, 30))
def test_the_largest_utilization_asks_for_no_more_than_is_free_whatever_the_rounding(free, total):
    share = largest_utilization(round(free, 2) * GIB, round(total, 2) * GIB)
    assert share >= 0
    assert share * (round(total, 2) + 0.005) <= max(round(free, 2) - 0.005, 0) + 1e-9
    assert (share + 0.01) * (round(total, 2) + 0.005) > round(free, 2) - 0.005 - 1e-9
