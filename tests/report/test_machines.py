"""Rates of places as a person and a program see them."""

from __future__ import annotations

from flake_report.model.machines import Elsewhere, PlaceKind, PlaceRate
from flake_report.model.rate import Interval
from flake_report.report.machines import SHOWN, to_json, to_text

BAD = PlaceRate(
    PlaceKind.MACHINE, "host-3", Interval(30, 9, 0.3, 0.16, 0.48), own=6, victims=2, lost=2, p_value=0.0004,
    elsewhere=Elsewhere("host-3", 8, 7),
)  # fmt: skip
GOOD = PlaceRate(
    PlaceKind.MACHINE, "host-1", Interval(90, 2, 0.022, 0.005, 0.07), own=2, victims=0, lost=0, p_value=1.0
)
QUEUE = PlaceRate(PlaceKind.QUEUE, "gpu_1", Interval(120, 11, 0.092, 0.05, 0.15), own=8, victims=2, lost=2)


def test_a_bad_machine_is_told_with_its_evidence(printed) -> None:
    text = printed(to_text([QUEUE, BAD, GOOD], everything=False), 400)
    assert "1 machine of 2 worse than the others" in text
    assert "host-3  9 of 30 jobs in trouble, 30.0 % (16.0–48.0): 6 with failed tests, 2 with victims, 2 lost" in text
    assert "by chance on some of 2 machines: p = 0.0004" in text
    assert "7 of 8 failures passed elsewhere at the same commit" in text
    assert "host-1" not in text


def test_machines_that_are_alike_are_counted(printed) -> None:
    assert "2 machines: none differs from the others beyond chance" in printed(
        to_text([GOOD, GOOD], everything=False), 400
    )


def test_asked_for_everything_all_places_are_told_and_many_are_cut(printed) -> None:
    text = printed(to_text([QUEUE, *[GOOD] * (SHOWN + 4)], everything=True), 400)
    assert "queue    gpu_1  11 of 120 jobs" in text
    assert text.count("host-1") == SHOWN
    assert "… 4 more; see the JSON" in text


def test_without_machines_nothing_is_said(printed) -> None:
    assert printed(to_text([QUEUE], everything=False), 400) == ""


def test_one_machine_alone_is_compared_with_nothing(printed) -> None:
    assert printed(to_text([GOOD], everything=False)) == ""


def test_json_has_the_same_numbers_and_no_p_value_for_what_is_no_machine() -> None:
    told = to_json(BAD)
    assert (told["jobs"], told["trouble"], told["own"], told["victims"], told["lost"]) == (30, 9, 6, 2, 2)
    assert (told["p_value"], told["tried_elsewhere"], told["passed_elsewhere"]) == (0.0004, 8, 7)
    assert (to_json(QUEUE)["p_value"], to_json(QUEUE)["kind"], to_json(GOOD)["passed_elsewhere"]) == (None, "queue", 0)
