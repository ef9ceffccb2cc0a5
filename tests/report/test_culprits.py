"""What people read of who left the memory, and which run would tell."""

from __future__ import annotations

from typing import Any

import pytest

from flake_report.model.memory import GIB, Basis, Place, Suspect, Suspicion
from flake_report.report import culprits as page

A, B, C, V = (f"v1.test_{name}::test_{name}[x y]" for name in "abcv")


def suspicion(**fields: Any) -> Suspicion:
    given: dict[str, Any] = {
        "place": Place("kv-connectors", "gpu_1_queue", "pytest v1"),
        "incidents": 9,
        "jobs": 150,
        "victim": V,
        "basis": Basis.ORDER,
        "suspects": (Suspect(A, 0.5), Suspect(B, 0.3), Suspect(C, 0.15)),
        "orders": 40,
    }
    return Suspicion(**{**given, **fields})


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (
            {"basis": Basis.SAMPLES, "culprit": Suspect(A, left=round(10.86 * GIB), times=3), "measured": 3},
            f"{A} left 10.86 GiB, measured by the recorder in 3 incidents",
        ),
        (
            {"basis": Basis.SAMPLES, "culprit": Suspect(A, left=round(10.86 * GIB), times=2), "measured": 3},
            f"{A} left 10.86 GiB, measured by the recorder in 2 of 3 incidents",
        ),
        ({"culprit": Suspect(A, 0.972)}, f"{A} left it, by the order of tests: 97 % likely"),
        ({"culprit": Suspect(A, 0.9999)}, f"{A} left it, by the order of tests: over 99 % likely"),
        ({}, "one of 3 tests left it, by the order of tests"),
        (
            {"unseparated": ((A, B), (B, C))},
            "one of 3 tests left it, by the order of tests; 2 pairs of them always ran in one order",
        ),
        ({"suspects": (), "orders": 1}, "nobody is suspected: the tests always ran in one order"),
        ({"suspects": (), "orders": 2}, "nobody is suspected: the tests ran in 2 orders only"),
        (
            {"suspects": (), "incidents": 2, "outside": None},
            "2 incidents cannot tell by the order of tests who left it; it takes 5",
        ),
        (
            {"suspects": (), "incidents": 4, "outside": 0.9},
            "4 incidents cannot tell by the order of tests who left it; it takes 5",
        ),
        (
            {"suspects": (), "outside": 0.96, "incidents": 3},
            "the order of tests speaks for none of them: the memory was taken from outside this process (95 % sure)",
        ),
        (
            {"suspects": (), "measured": 1},
            "the recorder's samples show no single test that left it: it came between tests, or was there before",
        ),
    ],
    ids=[
        "measured",
        "measured in some",
        "named",
        "sure",
        "a set",
        "never separated",
        "one order",
        "few orders",
        "too few for anything",
        "too few",
        "from outside",
        "no test",
    ],
)
def test_the_sentence_says_how_it_is_known(fields, says):
    assert page.sentence(suspicion(**fields)) == says
    assert page.to_json(suspicion(**fields))["sentence"] == says


def test_the_run_that_would_tell_is_one_to_paste():
    # An incident comes in 6 % of jobs: 0.94^49 = 0.048.
    assert page.experiment(suspicion()) == (
        "run 49 times: pytest 'v1/test_a.py::test_a[x y]' 'v1/test_v.py::test_v[x y]'; if the last one fails, the "
        "culprit runs before it"
    )
    two = suspicion(suspects=tuple(Suspect(test, 0.24) for test in (A, B, C, V)))
    assert page.experiment(two).count("::") == 3


def test_no_run_is_asked_for_where_the_culprit_is_known():
    assert page.experiment(suspicion(culprit=Suspect(A, 0.99))) == ""
    assert page.experiment(suspicion(suspects=())) == (
        "record the memory around each test: GPU_GUARD_RECORD=test-results pytest …"
    )


@pytest.mark.parametrize(("rate", "runs"), [(0.06, 49), (0.5, 5), (1.0, 1), (0.0, 1)])
def test_a_run_is_repeated_until_an_incident_would_have_come(rate, runs):
    assert page.repeats(rate) == runs
    if 0 < rate < 1:
        assert (1 - rate) ** runs <= 0.05 < (1 - rate) ** (runs - 1)


@pytest.mark.parametrize("width", [80, 120])
def test_the_page_fits_the_terminal(width, printed):
    many = tuple(Suspect(f"v1.test_a::test_{at}", 0.1) for at in range(9))
    text = printed(page.to_text(suspicion(suspects=many)), width)
    assert "GPU memory was missing: kv-connectors · gpu_1_queue · 9 incidents in 150 jobs" in text
    assert "… 4 more" in text
