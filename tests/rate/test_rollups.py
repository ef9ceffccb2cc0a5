"""Roll-ups of histories that are spelled out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from random import Random

import pytest

from flake_report.model.rate import Fleet, Level, Pool, RollUp
from flake_report.rate.clusters import design_effect
from flake_report.rate.rollups import roll_ups
from flake_report.rate.segments import parted


@pytest.fixture
def joined(fleet) -> Callable[..., Fleet]:
    """Several tests of the same builds: name, file, step, and what happened build by build."""

    def join(*tests: tuple[str, str, str, tuple[str, ...]]) -> Fleet:
        histories, longest, steps = [], fleet("P"), {}
        for name, file, step, builds in tests:
            one = fleet(*builds)
            (history,) = one.histories
            variant = history.variant._replace(test=history.variant.test._replace(name=name), step=step)
            histories.append(history._replace(variant=variant, file=file))
            longest = max(longest, one, key=lambda each: len(each.builds))
            steps[step] = Pool(step, history.variant.queue, tuple(range(len(longest.builds))))
        return Fleet(longest.builds, tuple(steps[name] for name in sorted(steps)), tuple(histories))

    return join


def rolled(fleet: Fleet, level: Level, owners: dict | None = None) -> dict[str, RollUp]:
    return {each.name: each for each in roll_ups(fleet, parted(fleet), owners or {}) if each.level is level}


P = ["P"]


def test_a_step_counts_every_run_of_its_tests_and_clusters_them_by_build(joined) -> None:
    one = joined(
        ("a", "a.py", "unit", ("F", "P", "P", "P", "P")),
        ("b", "b.py", "unit", ("F", "P", "P", "F", "P")),
        ("c", "b.py", "other", ("P", "P", "P", "P", "P")),
    )
    steps = rolled(one, Level.STEP)
    unit = steps["unit"]
    assert (unit.variants, unit.own.hits, unit.own.n, unit.jobs) == (2, 3, 10, 5)
    assert unit.design_effect == pytest.approx(float(design_effect([2, 0, 0, 1, 0], 2)))
    assert (steps["other"].own.hits, steps["other"].own.n) == (0, 5)


def test_a_roll_up_without_a_failure_has_the_usual_design_effect(joined) -> None:
    one = joined(("a", "", "unit", ("F", *P * 9)), ("b", "", "unit", ("F", *P * 9)), ("c", "", "other", tuple(P * 10)))
    steps = rolled(one, Level.STEP)
    assert steps["other"].design_effect == steps["unit"].design_effect > 1
    assert steps["other"].effective < 10


def test_breakages_leave_roll_ups(joined) -> None:
    one = joined(("a", "", "unit", (*P * 40, *["F"] * 10, *P * 40, "F|P")))
    assert (rolled(one, Level.STEP)["unit"].own.hits, rolled(one, Level.STEP)["unit"].own.n) == (1, 81)
    assert rolled(one, Level.STEP)["unit"].jobs == 81


def test_tests_are_rolled_up_over_their_steps_and_files_over_their_tests(joined) -> None:
    one = joined(
        ("a", "a.py", "unit", ("F", "P", "P")), ("a", "a.py", "other", ("P", "P", "F")),
        ("b", "a.py", "unit", ("P", "P", "P")), ("c", "c.py", "unit", ("P", "P", "P")),
    )  # fmt: skip
    tests, files = rolled(one, Level.TEST), rolled(one, Level.FILE)
    assert {name: (each.own.hits, each.own.n, each.variants) for name, each in tests.items()} == {
        "v1.test_x::a": (2, 6, 2)
    }
    assert {name: (each.own.hits, each.own.n, each.jobs) for name, each in files.items()} == {"a.py": (2, 9, 6)}


def test_owners_are_rolled_up_and_tests_without_one_left_out(joined) -> None:
    one = joined(("a", "", "unit", ("F", "P")), ("b", "", "unit", ("P", "P")))
    owned = one.histories[0].variant.test
    owners = rolled(one, Level.OWNER, {owned: "@kv"})
    assert {name: (each.own.hits, each.own.n) for name, each in owners.items()} == {"@kv": (1, 2)}


def test_the_most_failures_come_first(joined) -> None:
    one = joined(("a", "", "one", ("F", "P")), ("b", "", "two", ("F", "F", "P")), ("c", "", "three", ("P",)))
    assert list(rolled(one, Level.STEP)) == ["two", "one", "three"]


def test_a_streak_is_spread_over_the_builds_of_its_pool_that_it_spans(joined) -> None:
    one = joined(("a", "", "unit", ("S", "P", "S", "P", "S", "F")), ("b", "", "unit", tuple(P * 6)))
    unit = rolled(one, Level.STEP)["unit"]
    assert (unit.own.hits, unit.own.n, unit.jobs) == (1, 9, 6)


def test_nothing_has_no_roll_up() -> None:
    assert roll_ups(Fleet((), (), ()), [], {}) == ()


def test_some_levels_are_told_as_among_all(joined) -> None:
    one = joined(("a", "a.py", "unit", ("F", "P", "P")), ("a", "a.py", "other", ("P", "P", "F")))
    owners = {one.histories[0].variant.test: "@kv"}
    told = roll_ups(one, parted(one), owners)
    assert {each.level for each in told} == set(Level)
    for levels in ((Level.QUEUE, Level.OWNER), (Level.TEST,), ()):
        expected = tuple(each for each in told if each.level in levels)
        assert roll_ups(one, parted(one), owners, levels) == expected


POOLS = {"s0": range(30), "s1": range(5, 25), "s2": range(0, 30, 3)}


@pytest.mark.parametrize("cells", [1, 100, 4_000_000])
def test_names_are_counted_as_run_by_run_where_pools_ran_in_different_builds(cells, fleet, monkeypatch) -> None:
    """Twelve variants of eight tests in four files; each ran in every build of its pool, and first failed in some."""
    monkeypatch.setattr("flake_report.rate.rollups._CELLS", cells)
    random = Random(3)
    histories, members = [], defaultdict(set)
    runs, failed = defaultdict(Counter), defaultdict(Counter)
    for nth in range(12):
        step = f"s{nth % 3}"
        bad = {order for order in POOLS[step] if random.random() < 0.1}
        one = fleet(*("F|P" if at in bad else "P" if at in POOLS[step] else "S" for at in range(30)))
        (history,) = one.histories
        test = history.variant.test._replace(name=f"t{nth % 8}")
        variant = history.variant._replace(test=test, step=step)
        file = f"f{nth % 4}.py"
        histories.append(history._replace(variant=variant, file=file))
        for name in ((Level.TEST, str(test)), (Level.FILE, file), (Level.STEP, step), (Level.QUEUE, "gpu_1")):
            members[name].add(variant)
            runs[name].update((step, order) for order in POOLS[step])
            failed[name].update((step, order) for order in bad)
    pools = tuple(Pool(step, "gpu_1", tuple(orders)) for step, orders in POOLS.items())
    told = Fleet(one.builds, pools, tuple(histories))
    assert {
        (each.level, each.name): (each.variants, each.own.n, each.own.hits, each.jobs, each.failing_jobs)
        for each in roll_ups(told, parted(told), {})
    } == {
        name: (len(members[name]), runs[name].total(), failed[name].total(), len(runs[name]), len(failed[name]))
        for name in members
        if failed[name] and (name[0] is not Level.TEST or len(members[name]) > 1)
    }


def test_names_counted_in_portions_are_counted_as_all_at_once(joined, monkeypatch) -> None:
    one = joined(*((f"t{at}", f"f{at % 3}.py", f"s{at % 2}", ("F", *P * at, "F|P", *P * 9)) for at in range(8)))
    at_once = roll_ups(one, parted(one), {})
    monkeypatch.setattr("flake_report.rate.rollups._CELLS", 1)
    assert roll_ups(one, parted(one), {}) == at_once
