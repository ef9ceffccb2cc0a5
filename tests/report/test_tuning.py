"""What people read of a setting: the worked example as a table, and words that fit the data."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from flake_report.model.memory import GIB, Fit, Place, Refusal, Risk, Tuning
from flake_report.report import tuning as page

DAY = datetime(2026, 4, 15, tzinfo=UTC)
T = round(22.05 * GIB)


def refusal(build: str, utilization: float, free: float, asked: float, **fields: Any) -> Refusal:
    return Refusal(build, "job", DAY, utilization, round(free * GIB), round(asked * GIB), T, **fields)


def risk(utilization: float, rate: float = 0.0, **fields: Any) -> Risk:
    given = {"asks": round(T * utilization), "low": rate / 2, "high": rate * 2, "at_most": 0.013, "effective": 150.0}
    return Risk(utilization, rate=rate, **{**given, **fields})


def tuning(**fields: Any) -> Tuning:
    """The two known failures of the test, with the passes of the worked example."""
    given: dict[str, Any] = {
        "test": "v1.kv.test_hma::test_fewer_blocks_with_hma[google/gemma-3-1b-it-512]",
        "place": Place("kv-connectors", "gpu_1_queue"),
        "total": T,
        "device": "cuda:0",
        "starts": 150,
        "refusals": (refusal("1230", 0.5, 10.93, 11.02, mirrored=True), refusal("1240", 0.47, 4.51, 10.36)),
        "risks": (risk(0.5, 0.0265), risk(0.47, 0.0067), risk(0.3, 0.0067), risk(0.2)),
        "budget": 0.01,
        "fit": Fit.SEEN,
        "advised": 0.2,
        "current": 0.47,
        "needed_passes": 191,
    }
    return Tuning(**{**given, **fields})


def test_the_worked_example_is_a_table_for_a_pull_request():
    assert page.table(tuning()) == [
        "| setting | asks GiB | 4.51 free | 10.93 free |  risk | 95 % band |",
        "|--------:|---------:|----------:|-----------:|------:|----------:|",
        "|     0.5 |    11.02 |   refused |    refused | 2.6 % |   1.3–5.3 |",
        "|    0.47 |    10.36 |   refused |     starts | 0.7 % |   0.3–1.3 |",
        "|     0.3 |     6.62 |   refused |     starts | 0.7 % |   0.3–1.3 |",
        "|     0.2 |     4.41 |    starts |     starts | 0.0 % |   0.0–0.0 |",
    ]


def test_many_different_failures_are_counted_instead():
    many = tuple(refusal(str(at), 0.5, 10 - at, 11.02) for at in range(5))
    rows = page.table(tuning(refusals=many, risks=(risk(0.5), risk(0.4), risk(0.1))))
    # 10, 9, 8, 7 and 6 GiB were free; 0.4 asks for 8.82 and 0.1 for 2.21.
    assert [row.split("|")[3].strip() for row in rows] == ["refused", "--------:", "5 of 5", "3 of 5", "0 of 5"]


def test_of_many_failures_those_with_least_free_are_told(printed):
    many = tuple(refusal(str(at), 0.5, 10 - at, 11.02) for at in range(5))
    text = printed(page.to_text([tuning(refusals=many)], everything=False), 80)
    told = [line.split(" of ")[0].removeprefix("seen   ") for line in text.splitlines() if line.startswith("seen")]
    assert told == ["8.00", "7.00", "6.00"]
    assert "… 2 more, with more free" in text


def test_where_rounding_decides_the_table_says_so():
    rows = page.table(tuning(risks=(risk(0.2045, asks=round(4.511 * GIB)),)))
    assert "close" in rows[2]


def test_a_risk_that_nothing_is_known_of_is_a_question_mark():
    rows = page.table(tuning(refusals=(), risks=(risk(0.9, known=False),)))
    assert rows[0] == "| setting | asks GiB | risk | 95 % band |"
    assert rows[2].endswith("|    ? |   0.0–100 |")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (
            {},
            (
                "0.2 is the largest that would have passed every failure seen, which is not yet safe: its risk is "
                "at most 1.3 % (95 % sure), and to certify 1 % takes 191 starts without a refusal; there are 150"
            ),
        ),
        (
            {"floor": 0.47},
            "there are 150; no engine here came up below 0.47: try whether the test runs with so little",
        ),
        (
            {"floor": 0.3, "need": round(2.56 * GIB)},  # 0.2 asks for 4.41
            (
                "; 0.2 leaves at most 1.85 GiB of KV cache, and no engine here came up below 0.3: try whether the test "
                "runs with so little"
            ),
        ),
        (
            {"fit": Fit.CERTIFIED, "advised": 0.3, "floor": 0.47, "risks": (risk(0.3, at_most=0.008),)},
            "(95 % sure, 150 starts); no engine here came up below 0.47: try whether the test runs with so little",
        ),
        (
            {"fit": Fit.CERTIFIED, "advised": 0.3, "risks": (risk(0.3, at_most=0.008),)},
            "set 0.3: the risk is at most 0.8 %, within the budget of 1 % (95 % sure, 150 starts)",
        ),
        (
            {"fit": Fit.CERTIFIED, "advised": 0.47, "risks": (risk(0.47, at_most=0.008),)},
            "keep 0.47: the risk is at most 0.8 %, within the budget of 1 % (95 % sure, 150 starts)",
        ),
        (
            {"fit": Fit.CLEAN, "advised": None, "need": round(6.6 * GIB)},
            (
                "no setting mends this: 4.51 GiB were free at the worst, and the test needs 6.60 besides its KV cache; "
                "the leftover must go first"
            ),
        ),
        (
            {"refusals": (), "advised": 0.47, "starts": 1},
            (
                "0.47 was never refused; its risk is at most 1.3 % (95 % sure): to certify 1 % takes 191 starts "
                "without a refusal; there is 1"
            ),
        ),
    ],
    ids=[
        "not safe",
        "never seen so low",
        "what is left",
        "certified lower than ever seen",
        "certified",
        "certified as it is",
        "no setting",
        "never refused",
    ],
)
def test_the_advice_says_no_more_than_the_data(fields, says):
    assert page.advice(tuning(**fields)).endswith(says)
    if fields.get("fit") is not Fit.CERTIFIED:
        assert "safe" not in page.advice(tuning(**fields)).replace("not yet safe", "")


@pytest.mark.parametrize("width", [80, 120])
def test_a_page_fits_the_terminal_and_has_all_that_matters(width, printed):
    found = tuning(leftover=round(2.1 * GIB), need=round(6.61 * GIB), mirrored_advice=0.21)
    flat = " ".join(printed(page.to_text([found], everything=False), width).split())
    for words in (
        "kv-connectors · gpu_1_queue · cuda:0 of 22.05 GiB · 150 starts, 2 refused",
        "10.93 of 22.05 GiB free, 11.02 asked (build 1230); the 11.12 in use are about what 0.5 asks for",
        "4.51 of 22.05 GiB free, 10.36 asked (build 1240)",
        "what no setting mends: 2.10 GiB of leftover must go first",
        "at least 6.61 GiB besides its KV cache",
        "up to 17.54 GiB were in use",
        "0.21, if what is left shrinks with the setting of the engine that left it",
    ):
        assert words in flat


@pytest.mark.parametrize(("mirrored", "told"), [(0.21, True), (0.2, False), (0.19, False), (None, False)])
def test_what_may_shrink_is_told_where_it_allows_more(mirrored, told, printed):
    page_ = printed(page.to_text([tuning(mirrored_advice=mirrored)], everything=False))
    assert ("if what is left shrinks" in page_) is told


def test_tests_that_were_never_refused_are_counted_or_shown(printed):
    quiet = tuning(refusals=(), advised=0.47)
    assert printed(page.to_text([quiet], everything=False)).strip() == "1 more was never refused; --all shows all"
    assert "none refused" in printed(page.to_text([quiet], everything=True))


def test_the_numbers_of_the_page_and_of_json_are_the_same():
    told = page.to_json(tuning())
    assert told["advice"] == page.advice(tuning())
    assert [one["used"] for one in told["refusals"]] == [T - round(10.93 * GIB), T - round(4.51 * GIB)]
    assert [one["rate"] for one in told["risks"]] == [0.0265, 0.0067, 0.0067, 0.0]
    unknown = page.to_json(tuning(risks=(risk(0.9, known=False),)))["risks"][0]
    assert (unknown["rate"], unknown["high"]) == (None, 1.0)
