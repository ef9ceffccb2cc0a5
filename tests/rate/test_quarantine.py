"""Which failures are excused, and when they are no longer: lists made anew over builds that are spelled out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta

from flake_report.model.quarantine import Decided, Entry, Fate, Quarantine
from flake_report.model.rate import FlakeRate, History, Interval, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment, TestVerdict
from flake_report.rate.quarantine import Terms, healed, still_flaky, update

VARIANT = Variant(TestId("v1.x", "t"), "unit", "l4", "")
TODAY = date(2026, 11, 30)
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
VERDICTS = {"F": RunVerdict.FAILED, "M": RunVerdict.FLAKY, "V": RunVerdict.VICTIM, "G": RunVerdict.FAILED}
PRINTS = {"F": "known", "M": "known", "G": "new"}
BOTH = frozenset({"known", "new"})


def history(spelled: str, variant: Variant = VARIANT) -> History:
    """Builds in order: `.` passes, `M` failed and passed, `F` failed, `G` failed in a new way, `V` a victim."""
    runs = tuple(
        Run(variant, str(at), at, MONDAY + timedelta(days=at), VERDICTS[mark], fingerprint=PRINTS.get(mark, ""))
        for at, mark in enumerate(spelled)
        if mark != "."
    )
    passes = tuple(Streak(at, at, 1) for at, mark in enumerate(spelled) if mark == ".")
    return History(variant, runs, passes)


def rate(verdict: TestVerdict = TestVerdict.FLAKY, variant: Variant = VARIANT, **fields: Any) -> FlakeRate:
    own = Interval(20, 3, 0.15, 0.05, 0.3)
    return FlakeRate(
        variant, own, own, 0.0, "", verdict=verdict, reason="it is so", **{"flakes": frozenset({"known"}), **fields}
    )


def entry(**fields: Any) -> Entry:
    given = {
        "test": "v1.x::t",
        "step": "unit",
        "queue": "l4",
        "fingerprints": ("known",),
        "reason": "",
        "evidence": "",
        "owner": "",
        "since": date(2026, 11, 1),
        "expires": date(2026, 12, 24),
    }
    return Entry(**{**given, **fields})


def terms(**fields: Any) -> Terms:
    given: dict[str, Any] = {"today": TODAY, "days": 30, "owners": {}, "link": lambda run: f"build {run.build}"}
    return Terms(**{**given, **fields})


def made(old: Quarantine, spelled: str, *rates: FlakeRate, **fields: Any) -> tuple[Quarantine, list[tuple[Fate, str]]]:
    listed, decided = update(old, [history(spelled)], rates, terms(**fields))
    return listed, [(one.fate, one.why) for one in decided]


def test_a_test_that_flakes_is_listed_with_all_that_the_contract_asks():
    listed, decided = made(Quarantine(), "..M.F", rate(), owners={VARIANT.test: "@gpu"})
    assert decided == [(Fate.ADDED, "")]
    assert listed.entries == (
        entry(
            reason="3 of 20 runs failed first; it is so",
            evidence="build 4",
            owner="@gpu",
            since=date(2026, 11, 4),
            expires=date(2026, 12, 30),
        ),
    )


@pytest.mark.parametrize("verdict", [each for each in TestVerdict if each is not TestVerdict.FLAKY], ids=str)
def test_nothing_but_a_flake_is_excused(verdict):
    assert made(Quarantine(), "..M.F", rate(verdict))[0] == Quarantine()


def test_a_failure_that_happened_once_in_its_way_is_not_excused():
    listed, _ = made(Quarantine(), "M..G..", rate())
    assert listed.entries[0].fingerprints == ("known",)
    assert made(Quarantine(), "G.....", rate())[0] == Quarantine()
    shown = rate(flakes=frozenset({"new"}))
    assert made(Quarantine(), "G..G..", shown)[0].entries[0].fingerprints == ("new",)


def test_failures_of_a_breakage_are_not_excused():
    breakage = Segment(3, 5, 3, 3, 0, 3, 0, breakage=True)
    listed, _ = made(Quarantine(), "M..GGG.", rate(segments=(breakage,), flakes=BOTH))
    assert listed.entries[0].fingerprints == ("known",)


def test_what_ran_out_is_dropped_named_and_does_not_come_back_by_itself():
    old = Quarantine((entry(expires=date(2026, 11, 29)),))
    listed, decided = made(old, "..M.F", rate())
    assert decided == [(Fate.EXPIRED, "on 2026-11-29"), (Fate.HELD_BACK, "it ran out on 2026-11-29")]
    assert (listed.entries, listed.lapsed) == ((), old.entries)
    again, decided = made(listed, "..M.F", rate())
    assert (again, decided) == (listed, [(Fate.HELD_BACK, "it ran out on 2026-11-29")])
    renewed, decided = made(listed, "..M.F", rate(), renew=True)
    assert decided == [(Fate.ADDED, "")]
    assert (len(renewed.entries), renewed.lapsed) == (1, ())


def test_on_its_last_day_an_entry_is_kept():
    assert made(Quarantine((entry(expires=TODAY),)), "..M.F", rate())[1] == [(Fate.KEPT, "")]


def test_what_healed_is_dropped_and_named():
    listed, decided = made(Quarantine((entry(),)), "M.M." + "." * 40)
    assert decided == [(Fate.HEALED, "41 passes since build 2, after 2 failures in 3 runs")]
    assert listed == Quarantine()


def test_what_healed_is_not_listed_anew():
    assert made(Quarantine(), "M.M." + "." * 40, rate())[0] == Quarantine()


def test_a_failure_in_another_way_does_not_keep_an_entry_alive():
    assert healed(entry(), [history("M.M" + "." * 20 + "G" + "." * 20)])
    assert not healed(entry(), [history("M.M" + "." * 40 + "M")])


def test_all_variants_of_an_entry_must_have_healed():
    other = Variant(TestId("v1.x", "t[2]"), "unit", "l4", "")
    wide = entry(test="v1.x::t*")
    well, ill = history("MM" + "." * 40), history("." * 40 + "M", other)
    assert healed(wide, [well])
    assert not healed(wide, [well, ill])
    assert healed(wide, [well, history("." * 40, other)])


def test_an_entry_whose_failures_are_out_of_sight_is_kept():
    assert made(Quarantine((entry(),)), "." * 400)[1] == [(Fate.KEPT, "")]


def test_victims_are_no_passes_and_no_failures():
    assert not healed(entry(), [history("MM" + "V" * 60)])
    assert healed(entry(), [history("MM" + "V" * 60 + "." * 40)])


def test_a_kept_entry_learns_the_further_ways_in_which_its_test_flakes():
    listed, decided = made(Quarantine((entry(owner="@me"),)), "MF.G.G", rate(flakes=BOTH))
    assert decided == [(Fate.KEPT, "")]
    assert listed.entries == (entry(owner="@me", fingerprints=("known", "new")),)


WIDE = [
    pytest.param({"test": "v1.x::t*"}, id="a pattern"),
    pytest.param({"test": "tests/v1/x.py::t"}, id="a node id"),
    pytest.param({"step": "", "queue": ""}, id="every step and queue"),
]


@pytest.mark.parametrize("wide", WIDE)
def test_what_a_person_listed_in_other_words_is_not_listed_twice(wide):
    old = Quarantine((entry(**wide),))
    listed, decided = made(old, "..M.F", rate())
    assert (listed, decided) == (old, [(Fate.KEPT, "")])


@pytest.mark.parametrize("wide", WIDE)
def test_what_a_person_listed_in_other_words_does_not_come_back_by_itself_either(wide):
    old = Quarantine((entry(**wide, expires=date(2026, 11, 29)),))
    listed, decided = made(old, "..M.F", rate())
    assert decided == [(Fate.EXPIRED, "on 2026-11-29"), (Fate.HELD_BACK, "it ran out on 2026-11-29")]
    assert (listed.entries, listed.lapsed) == ((), old.entries)
    renewed, _ = made(listed, "..M.F", rate(), renew=True)
    assert ([one.test for one in renewed.entries], renewed.lapsed) == (["v1.x::t"], ())


@pytest.mark.parametrize("wide", WIDE)
def test_an_entry_for_many_learns_nothing_of_one_whose_new_way_gets_an_entry_of_its_own(wide):
    old = Quarantine((entry(**wide),))
    listed, decided = made(old, "MF.G.G", rate(flakes=BOTH))
    assert [fate for fate, _ in decided] == [Fate.KEPT, Fate.ADDED]
    assert [(one.test, one.fingerprints) for one in listed.entries] == [
        (entry(**wide).test, ("known",)),
        ("v1.x::t", ("new",)),
    ]


def test_what_a_person_lists_again_has_not_lapsed():
    listed, decided = made(Quarantine((entry(),), (entry(expires=date(2026, 11, 1)),)), "..M.F", rate())
    assert decided == [(Fate.KEPT, "")]
    assert listed == Quarantine((entry(),))


def test_sessions_of_one_test_share_an_entry():
    other = Variant(VARIANT.test, "unit", "l4", "pytest -k other")
    listed, _ = update(
        Quarantine(), [history("M.F"), history("G.G", other)], [rate(), rate(variant=other, flakes=BOTH)], terms()
    )
    assert [one.fingerprints for one in listed.entries] == [("known", "new")]


@given(st.integers(1, 40), st.integers(0, 60), st.integers(0, 80))
def test_the_probability_of_so_many_passes_is_the_integral_over_the_rate(failures, more, passes):
    runs = failures + more
    posterior = beta(failures + 0.5, runs - failures + 0.5)
    integral, _ = quad(lambda p: posterior.pdf(p) * (1 - p) ** passes, 0, 1, limit=200, points=[0.001, 0.999])
    assert still_flaky(failures, runs, passes) == pytest.approx(integral, rel=1e-3, abs=1e-6)


def test_by_hand_one_failure_in_one_run():
    # Beta(3/2, 1/2): B(3/2, 3/2) / B(3/2, 1/2) = (pi/8) / (pi/2).
    assert still_flaky(1, 1, 1) == pytest.approx(0.25)


def test_a_rate_that_is_well_known_takes_the_passes_of_the_plain_formula():
    # ln 0.05 / ln 0.99 = 298 passes at 1 %.
    assert still_flaky(1000, 100_000, 297) > 0.05 > still_flaky(1000, 100_000, 300)


def test_each_decision_is_one_entry_once():
    old = Quarantine((entry(), entry(test="gone::t"), entry(test="old::t", expires=date(2026, 1, 1))))
    listed, decided = update(old, [history("..M.F")], [rate()], terms())
    assert [one.fate for one in decided] == [Fate.KEPT, Fate.KEPT, Fate.EXPIRED]
    assert all(isinstance(one, Decided) for one in decided)
    assert [one.test for one in listed.entries] == ["v1.x::t", "gone::t"]
