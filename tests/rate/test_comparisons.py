"""One week against those before it, on fleets whose every run is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from flake_report.model.comparison import WeekTable
from flake_report.model.evidence import Build
from flake_report.model.rate import Fleet, History, Pool, Run, RunVerdict, Streak, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment
from flake_report.rate.comparisons import compared, comparisons
from flake_report.rate.weeks import Calendar, week_counts, week_table

MONDAY = datetime(2026, 9, 7, tzinfo=UTC)


def builds(weeks: int, a_week: int) -> tuple[Build, ...]:
    gap = timedelta(days=7) / a_week
    return tuple(
        Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + at * gap, "passed")
        for at in range(weeks * a_week)
    )


def history(name: str, spelled: str, made: Sequence[Build], step: str = "unit", session: str = "") -> History:
    """A letter a build: `P` passed, `F` failed, `S` skipped, `.` did not run; one streak a week, as in the store."""
    variant = Variant(TestId("m", name), step, "q", session)
    runs = tuple(
        Run(variant, build.key, at, build.created_at, RunVerdict.FAILED, first_failed=True)
        for at, build in enumerate(made)
        if spelled[at] == "F"
    )
    return History(variant, runs, _streaks("P", spelled, made), _streaks("S", spelled, made))


def _streaks(letter: str, spelled: str, made: Sequence[Build]) -> tuple[Streak, ...]:
    found = []
    weeks = list(dict.fromkeys(build.week for build in made)) if "F" in spelled else [""]
    for week in weeks:
        orders = [at for at, build in enumerate(made) if spelled[at] == letter and week in ("", build.week)]
        if orders:
            found.append(Streak(orders[0], orders[-1], len(orders)))
    return tuple(found)


def fleet(made: Sequence[Build], *histories: History) -> Fleet:
    pools = sorted({history.variant.step for history in histories})
    orders = tuple(range(len(made)))
    return Fleet(tuple(made), tuple(Pool(step, "q", orders) for step in pools), histories)


@pytest.fixture
def calm() -> Callable[[int, int], list[History]]:
    """Tests that fail once in 50 builds, each at another time: weeks of such a fleet do not differ."""

    def made(weeks: int, a_week: int) -> list[History]:
        known = builds(weeks, a_week)
        return [
            history(f"calm_{k}", "".join("F" if (at + k) % 50 == 0 else "P" for at in range(len(known))), known)
            for k in range(50)
        ]

    return made


def test_a_test_that_began_to_fail_is_worse_and_its_mirror_is_better(calm) -> None:
    known = builds(6, 100)
    worse = history("t_worse", "P" * 500 + "FPPP" * 25, known)
    better = history("u_better", "FPPP" * 125 + "P" * 100, known)
    found = comparisons(fleet(known, *calm(6, 100), worse, better), {})
    assert [change.variant.test.name for change in found.worse] == ["t_worse"]
    assert [change.variant.test.name for change in found.better] == ["u_better"]
    [change] = found.worse
    assert (change.now.hits, change.now.n, change.before.hits, change.before.n) == (25, 100, 0, 500)
    assert change.p_value < 1e-6
    assert (found.week, found.before, found.pooled) == (known[-1].week, 5, False)
    assert found.testable + found.untestable == 52


def test_a_breakage_is_no_change_of_a_rate(calm) -> None:
    known = builds(6, 100)
    broken = history("t_broken", "P" * 550 + "F" * 50, known)
    segment = Segment(550, 599, 50, 50, 0, 50, 0, breakage=True)
    histories = fleet(known, *calm(6, 100), broken)
    assert comparisons(histories, {}).worse
    assert not comparisons(histories, {broken.variant: (segment,)}).worse


def test_a_change_below_the_least_effect_is_no_news(calm) -> None:
    """From 10 to 19 % is more than a point and sure, but not twice as much."""
    known = builds(6, 400)
    grown = history("t_grown", ("F" + "P" * 9) * 200 + ("F" + "P" * 4) * 76 + "P" * 20, known)
    assert not comparisons(fleet(known, *calm(6, 400), grown), {}).worse


def test_at_nightly_volume_the_parameters_of_a_test_are_counted_together() -> None:
    """Each variant failed in 3 of 7 runs after none in 49: among 732 that is no proof; 36 of 84 together are."""
    known = builds(8, 7)
    others = [
        history(f"t_{k}[{m}]", "".join("F" if (at + 5 * m + k) % 50 == 0 else "P" for at in range(56)), known)
        for k in range(60)
        for m in range(12)
    ]
    grown = [history(f"t_grown[{k}]", "P" * 49 + "PFPFPFP", known) for k in range(12)]
    found = comparisons(fleet(known, *others, *grown), {})
    assert found.pooled
    assert found.testable + found.untestable == 61
    [change] = found.worse
    assert (change.variant.test.name, change.variants, change.now.hits, change.now.n) == ("t_grown", 12, 36, 84)


@pytest.mark.parametrize("icc", [0.0, 0.01])
def test_at_nightly_volume_few_weeks_without_any_change_hold_a_false_worse(icc) -> None:
    """40 weeks; with a chance of 5 % each, more than 5 would happen 1 time in 72. Parameters share their week."""
    random = np.random.default_rng(5)
    false = [bool(compared(unchanged(random, icc)).worse) for _ in range(40)]
    assert sum(false) <= 5


def unchanged(random: np.random.Generator, icc: float) -> WeekTable:
    """60 tests of 12 parameters, 7 runs a week, 8 weeks and the newest; a fifth fails, at 0.2 to 20 %."""
    tests, parameters, weeks = 60, 12, tuple(f"2026-W{40 - at:02}" for at in range(9))
    rates = np.where(random.random(tests) < 0.2, np.exp(random.uniform(np.log(0.002), np.log(0.2), tests)), 1e-12)
    drawn = np.repeat(rates[:, None], len(weeks), axis=1)
    if icc:
        drawn = random.beta(drawn * (1 / icc - 1), (1 - drawn) * (1 / icc - 1))
    failures = random.binomial(7, np.repeat(drawn, parameters, axis=0))
    variants = tuple(
        Variant(TestId("m", f"t_{test}[{each}]"), "unit", "q", "")
        for test in range(tests)
        for each in range(parameters)
    )
    return WeekTable(
        weeks,
        variants,
        runs=((7,) * len(weeks),) * len(variants),
        first_failures=tuple(map(tuple, failures.tolist())),
        seen=((weeks[-1], weeks[0]),) * len(variants),
        pools={("unit", "q"): frozenset(weeks)},
    )


def test_new_and_vanished_tests_are_told_once() -> None:
    known = builds(3, 2)
    made = fleet(
        known,
        history("always", "PPPPPP", known),
        history("gone", "PPPP..", known),
        history("gone_before", "PP....", known),
        history("new", "....PF", known),
        history("skipped_before", "SSSSPP", known),
        history("skipped_now", "PPPPSS", known),
        history("other_step_gone", "PPPP..", known, step="idle"),
    )
    idle = Pool("idle", "q", (0, 1, 2, 3))
    made = Fleet(made.builds, (idle, *made.pools[1:]), made.histories)
    found = comparisons(made, {})
    assert [variant.test.name for variant in found.new] == ["new"]
    assert [variant.test.name for variant in found.vanished] == ["gone"]


@pytest.mark.parametrize("did", ["P", "S"])
def test_a_build_whose_clock_is_weeks_ahead_makes_no_test_vanish(did) -> None:
    """It alone is of the newest week, and it lies between builds of weeks before."""
    known = list(builds(3, 4))
    known[6] = replace(known[6], created_at=MONDAY + timedelta(weeks=9))
    found = comparisons(fleet(known, history("always", did * 12, known), history("late", "......PPPPPP", known)), {})
    assert (found.week, found.vanished) == (known[6].week, ())


def test_another_command_makes_no_new_test() -> None:
    known = builds(2, 2)
    found = comparisons(
        fleet(known, history("t", "PP..", known, session="pytest a"), history("t", "..PP", known, session="pytest b")),
        {},
    )
    assert (found.new, found.vanished) == ((), ())


def test_with_one_week_alone_there_is_nothing_to_compare() -> None:
    known = builds(1, 5)
    found = comparisons(fleet(known, history("t", "PPFPP", known)), {})
    assert (found.week, found.before, found.worse, found.new) == (known[0].week, 0, (), ())
    assert comparisons(Fleet((), (), ()), {}).week == ""


@pytest.mark.parametrize("weeks", [0, 1, 2, 3])
def test_a_history_is_compared_as_the_table_that_it_makes(weeks) -> None:
    known = builds(weeks, 4)
    made = fleet(known, history("t", "PPFP" * weeks, known), history("new", "." * 4 * (weeks - 1) + "P" * 4, known))
    made = made if weeks else Fleet((), (), ())
    found = comparisons(made, {})
    assert found == compared(week_table(made, {}))
    assert (found.before, len(found.new)) == (max(weeks - 1, 0), weeks > 1)


def test_weeks_count_what_the_letters_say_with_or_without_failures() -> None:
    known = builds(3, 4)
    made = fleet(known, history("clean", "PPPP" * 3, known), history("some", "PFPS....FPPP", known))
    counts = week_counts(made, {}, Calendar.of(known))
    assert counts.runs.tolist() == [[4, 4, 4], [4, 0, 3]]
    assert counts.failures.tolist() == [[0, 0, 0], [1, 0, 1]]


def test_weeks_older_than_those_compared_are_left_out() -> None:
    known = builds(15, 2)
    counts = week_counts(
        fleet(known, history("clean", "P" * 30, known), history("some", "F" * 30, known)), {}, Calendar.of(known)
    )
    assert counts.runs.tolist() == [[2] * 13] * 2
    assert counts.failures.sum() == 26
