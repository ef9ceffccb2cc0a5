"""The newest week as a person and a program see it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake_report.model.comparison import Change, Comparisons
from flake_report.model.rate import Interval, Variant
from flake_report.model.results import TestId
from flake_report.report.weekly import SHOWN, to_json, to_text


def variant(name: str) -> Variant:
    return Variant(TestId("v1.test_x", name), "kv", "gpu_1", "")


WORSE = Change(variant("test_w"), Interval(100, 25, 0.25, 0.17, 0.34), Interval(500, 5, 0.01, 0.003, 0.02), 1e-9)
FOUND = Comparisons(
    new=(variant("test_new"),), worse=(WORSE,), week="2026-W48", before=5, testable=12, untestable=300, icc=0.004
)


def test_each_change_stands_with_both_rates_and_their_runs(printed) -> None:
    text = printed(to_text(FOUND, everything=False))
    assert "2026-W48 against 5 weeks before: 1 worse · 0 better · 1 new · 0 vanished" in text
    assert "worse    25.0 % (25/100), was 1.0 % (5/500)  v1.test_x::test_w · kv · gpu_1" in text
    assert "new      v1.test_x::test_new · kv · gpu_1" in text


def test_what_could_not_be_tested_is_said(printed) -> None:
    assert "300 of 312 variants have too few failures or runs to tell" in printed(to_text(FOUND, everything=False))


def test_an_empty_list_says_that_it_is_empty_by_construction(printed) -> None:
    nightly = Comparisons(week="2026-W48", before=3, untestable=40, pooled=True)
    text = printed(to_text(nightly, everything=False))
    assert "the parameters of each test are counted together" in text
    assert "empty by construction" in text


def test_of_tests_that_are_counted_together_it_is_said_how_many_there_are(printed) -> None:
    assert "(12 variants)" in printed(
        to_text(replace(FOUND, pooled=True, worse=(replace(WORSE, variants=12),)), everything=False)
    )


def test_long_lists_are_cut_unless_everything_is_asked_for(printed) -> None:
    many = replace(FOUND, worse=(WORSE,) * (SHOWN + 3))
    assert "… 3 more; --all shows them" in printed(to_text(many, everything=False))
    assert printed(to_text(many, everything=True)).count("test_w") == SHOWN + 3


@pytest.mark.parametrize("found", [Comparisons(), Comparisons(week="2026-W48")], ids=["no builds", "one week"])
def test_without_weeks_to_compare_nothing_is_said(found, printed) -> None:
    assert printed(to_text(found, everything=False)) == ""


def test_json_has_the_same_numbers() -> None:
    told = to_json(FOUND)
    [worse] = told["worse"]
    assert (worse["test"], worse["now"]["first_failures"], worse["before"]["own_runs"], worse["p_value"]) == (
        "v1.test_x::test_w", 25, 500, 1e-9,
    )  # fmt: skip
    assert (told["untestable"], told["testable"], told["pooled"], told["vanished"]) == (300, 12, False, [])
    assert to_json(Comparisons())["week"] is None
