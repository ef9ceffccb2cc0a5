"""How weeks are cut into parts, written out."""

from __future__ import annotations

import math

import pytest

from flake_report.store.parts import Part, Span, cut

ROWS = {"w1": 10, "w2": 10, "w3": 50, "w4": 10}
APART = [Span("w1", 0, 4), Span("w2", 5, 9), Span("w3", 10, 19), Span("w4", 20, 21)]
TORN = [Span("w1", 0, 6), Span("w2", 5, 9), Span("w3", 10, 19), Span("w4", 15, 21)]


@pytest.mark.parametrize(
    ("spans", "at_once", "kept_from", "expected"),
    [
        ([], 10, 1, []),
        (APART, 1000, math.inf, [(["w1", "w2", "w3", "w4"], 0, 80, False)]),
        (APART, 20, math.inf, [(["w1", "w2"], 0, 20, False), (["w3"], 10, 50, False), (["w4"], 20, 10, False)]),
        (APART, 1000, 50, [(["w1", "w2"], 0, 20, False), (["w3"], 10, 50, True), (["w4"], 20, 10, False)]),
        (TORN, 1, math.inf, [(["w1", "w2"], 0, 20, False), (["w3", "w4"], 10, 60, False)]),
        (TORN, 1, 60, [(["w1", "w2"], 0, 20, False), (["w3", "w4"], 10, 60, True)]),
        ([Span("w9", 3, 3)], 1, 0, [(["w9"], 3, 0, True)]),
    ],
    ids=[
        "nothing",
        "all at once",
        "as many as fit, and a week that is larger alone",
        "what is kept comes alone",
        "interleaved weeks together",
        "interleaved weeks are kept together",
        "a week without attempts",
    ],
)
def test_weeks_are_cut_into_parts(spans, at_once, kept_from, expected) -> None:
    assert list(cut(spans, ROWS, at_once=at_once, kept_from=kept_from)) == [Part(*part) for part in expected]
