"""Who left the memory, place by place: samples first, order where there are none."""

from __future__ import annotations

import pytest

from flake_report.model.memory import GIB, Basis, Place, TestOrder, Trace, TracePoint
from flake_report.rate.culprit import culprits, suspicions

UNIT, OTHER = Place("unit", "l4"), Place("other", "l4")


def order(job: str, spelled: str, place: Place = UNIT) -> TestOrder:
    """`abV`: tests a and b, then the victim v."""
    victims = frozenset(mark.lower() for mark in spelled if mark.isupper())
    names = tuple(spelled.lower())
    return TestOrder(place, job, names, victims, frozenset(names) - victims)


def trace(job: str, **used: float) -> Trace:
    """Tests in order with what was in use after each, in GiB; the victim v comes last."""
    points: list[TracePoint] = []
    before = 0.0
    for name, after in used.items():
        points += [TracePoint(name, True, round(before * GIB)), TracePoint(name, False, round(after * GIB))]  # noqa: FBT003  # a sample before, one after
        before = after
    return Trace(job, "cuda:0", (*points, TracePoint("v", True, round(before * GIB))))  # noqa: FBT003  # a sample before


def test_samples_name_the_test_with_the_memory_it_left():
    orders = [order("1", "abV"), order("2", "baV"), order("3", "abv")]
    (found,) = suspicions(orders, [trace("1", a=9, b=9), trace("2", b=0.3, a=11.3)])
    assert found.basis is Basis.SAMPLES
    assert found.culprit is not None
    assert (found.culprit.test, found.culprit.left) == ("a", 10 * GIB)
    assert (found.incidents, found.jobs, found.measured, found.victim) == (2, 3, 2, "v")
    assert culprits(orders, [trace("1", a=9, b=9), trace("2", b=0.3, a=11.3)], [found]) == {"1": "a", "2": "a"}


def test_the_one_that_left_memory_most_often_comes_first():
    orders = [order(str(at), "abV") for at in range(3)]
    traces = [trace("0", a=3, b=3), trace("1", a=3, b=3), trace("2", a=0, b=20)]
    (found,) = suspicions(orders, traces)
    assert [(one.test, one.left) for one in found.suspects] == [("a", 3 * GIB), ("b", 20 * GIB)]
    assert culprits(orders, traces, [found]) == {"0": "a", "1": "a", "2": "b"}


def test_samples_that_show_nobody_leave_it_to_the_order():
    (found,) = suspicions([order("1", "abV")], [trace("1", a=0, b=0)])
    assert (found.basis, found.measured, found.culprit) == (Basis.ORDER, 1, None)


def test_by_order_one_is_named_and_only_for_jobs_in_which_it_ran():
    quiet = [order(f"q{at}", "abcv") for at in range(200)]
    struck = [order(f"s{at}", "abxcV") for at in range(4)]
    (found,) = suspicions([*quiet, *struck])
    assert found.basis is Basis.ORDER
    assert found.culprit is not None
    assert found.culprit.test == "x"
    assert culprits([*quiet, *struck, order("s9", "abV")], [], [found]) == {f"s{at}": "x" for at in range(4)}


def test_few_incidents_give_no_set_and_enough_of_them_do():
    assert suspicions([order(str(at), "abV") for at in range(4)])[0].suspects == ()
    rest = "hijklmnopqrs"
    turned = [order(f"{at}", f"{'abcdefg' if at % 2 else 'gabcdef'}V{rest}") for at in range(8)]
    (found,) = suspicions([*turned, *(order(f"q{at}", f"abcdefgv{rest}") for at in range(20))])
    assert found.culprit is None
    assert {one.test for one in found.suspects} == set("abcdefg")
    assert sum(one.probability or 0 for one in found.suspects) >= 0.95
    assert ("a", "b") in found.unseparated
    assert not {("f", "g"), ("g", "f")} & set(found.unseparated)
    assert found.orders == 2


def test_that_nobody_did_it_is_weighed_from_three_incidents_on():
    """Nothing ran before the victim: of one incident nobody knows what other processes would have met."""
    assert [suspicions([order(str(at), "Vab") for at in range(many)])[0].outside for many in (1, 2)] == [None, None]
    (found,) = suspicions([order(str(at), "Vab") for at in range(3)])
    assert found.outside == pytest.approx(1, abs=1e-3)


def test_places_stand_apart_and_quiet_ones_are_left_out():
    orders = [order("1", "aV"), order("2", "aV"), order("3", "aV", OTHER), order("4", "av", Place("quiet", "l4"))]
    found = suspicions(orders)
    assert [(one.place, one.incidents) for one in found] == [(UNIT, 2), (OTHER, 1)]
    assert found[0].rate == 1.0


@pytest.mark.parametrize("orders", [[], [order("1", "ab")]], ids=["no jobs", "no incident"])
def test_without_incidents_there_is_no_suspicion(orders):
    assert suspicions(orders) == ()
    assert culprits(orders, [], []) == {}
