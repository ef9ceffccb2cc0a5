"""Who is suspected from order alone: identities, and simulated histories of a step of 45 tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pytest

from flake_report.model.memory import Place, TestOrder
from flake_report.rate.suspects import ranking, unseparated

TESTS = [f"t{at:02}" for at in range(45)]
SENSITIVE = TESTS[::3]
"""A third of the tests start an engine, and miss the memory when it is gone."""
BUILDS = 150
LEAKS = 0.06


def order(spelled: str, job: str = "1") -> TestOrder:
    """`abV`: three tests in order; a capital is a victim, a `!` behind a test says that it was skipped."""
    tests = [mark for mark in spelled if mark != "!"]
    victims = frozenset(test.lower() for test in tests if test.isupper())
    unjudged = {spelled[at - 1].lower() for at, mark in enumerate(spelled) if mark == "!"}
    names = tuple(test.lower() for test in tests)
    return TestOrder(Place("s", "q"), job, names, victims, frozenset(names) - victims - unjudged)


def history(rng: np.random.Generator, *, whole: bool, polluter: str | None) -> Iterator[TestOrder]:
    """Builds of one history; in half of them the order is changed: shuffled, or turned round a place.

    Without a polluter the memory is taken from outside, at a moment of its own choosing.
    """
    for build in range(BUILDS):
        tests = list(TESTS)
        if rng.random() < 0.5:
            turn = int(rng.integers(len(tests)))
            tests = [TESTS[at] for at in rng.permutation(len(tests))] if whole else TESTS[turn:] + TESTS[:turn]
        victims: frozenset[str] = frozenset()
        if rng.random() < LEAKS:
            at = int(rng.integers(-1, len(tests))) if polluter is None else tests.index(polluter)
            victims = frozenset(tests[at + 1 :]) & frozenset(SENSITIVE)
        yield TestOrder(Place("s", "q"), str(build), tuple(tests), victims, frozenset(tests) - victims)


def histories(seed: int, count: int, *, whole: bool) -> Iterator[tuple[str, list[TestOrder]]]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        polluter = str(rng.choice([test for test in TESTS if test not in SENSITIVE]))
        yield polluter, list(history(rng, whole=whole, polluter=polluter))


def tight(orders: list[TestOrder]) -> set[str]:
    """Plain logic: before the first victim of each incident, and not before a sensitive test that passed."""
    sensitive = {test for one in orders for test in one.victims}
    kept: list[set[str]] = []
    for one in (one for one in orders if one.victims):
        before = one.tests[: min(one.tests.index(test) for test in one.victims)]
        spared = [at for at, test in enumerate(before) if test in sensitive & one.passed]
        kept.append(set(before[spared[-1] if spared else 0 :]))
    return set.intersection(*kept)


def test_with_full_shuffles_the_polluter_is_named_and_nobody_else():
    rankings = [(polluter, ranking(orders)) for polluter, orders in histories(11, 200, whole=True)]
    named = [(polluter, found.tests[0]) for polluter, found in rankings if found.named]
    assert sum(polluter == name for polluter, name in named) >= 0.9 * len(rankings)
    assert sum(polluter != name for polluter, name in named) <= 0.01 * len(rankings)


def test_with_rotation_the_set_holds_the_polluter_and_nobody_is_named():
    rankings = [(polluter, ranking(orders)) for polluter, orders in histories(12, 150, whole=False)]
    enough = [(polluter, found) for polluter, found in rankings if found.incidents >= 5]
    assert len(enough) > 100
    assert sum(polluter in found.tests[: found.within] for polluter, found in enough) >= 0.95 * len(enough)
    assert sum(found.named for _, found in rankings) <= 0.01 * len(rankings)


def test_where_the_memory_comes_from_outside_nobody_is_named():
    rng = np.random.default_rng(13)
    found = [ranking(list(history(rng, whole=True, polluter=None))) for _ in range(100)]
    assert sum(one.named for one in found) <= 1
    assert sum(one.outside > 0.5 for one in found if one.incidents >= 5) >= 90


def test_probabilities_and_outside_add_up_to_one():
    for spelled in (["abV", "bVa", "abv"], ["aV"], ["V"], ["abVcW", "cabVW", "vcab"]):
        found = ranking([order(one) for one in spelled])
        assert sum(found.probabilities) + found.outside == pytest.approx(1)


def test_tests_that_always_run_together_are_equally_likely():
    found = ranking([order("abV", str(at)) for at in range(6)])
    assert found.probabilities[0] == found.probabilities[1]
    assert set(found.tests[:2]) == {"a", "b"}
    assert not found.named


def test_by_hand_two_candidates_of_which_one_spared_a_sensitive_test():
    # b ran after the sensitive test w had passed, a before it: a spared w. No quiet process; T = 4, e = 0.02.
    found = ranking([order("awbV"), order("abWV")])
    other = 0.02 / 4
    a = (0.98 * 0.97 * 0.03 + other) * (0.98 * 0.97**2 + other)
    b = (0.98 * 0.97 + other) * (0.98 * 0.97**2 + other)
    likelihood = dict(zip(found.tests, found.probabilities, strict=True))
    assert likelihood["a"] / likelihood["b"] == pytest.approx(a / b)


def test_two_incidents_name_nobody_whatever_the_probability():
    quiet = [order("abcdefghijklv", f"q{at}") for at in range(300)]
    two = [order("abcdefghijklxV", "s1"), order("abcdefghijklxV", "s2")]
    found = ranking([*quiet, *two])
    assert (found.tests[0], found.probabilities[0] >= 0.95, found.named) == ("x", True, False)
    assert ranking([*quiet, *two, order("abcdefghijklxV", "s3")]).named


def test_a_test_that_is_only_in_the_bad_jobs_is_named():
    found = ranking([*(order("abxcV", str(at)) for at in range(4)), *(order("abcv", f"q{at}") for at in range(200))])
    assert found.tests[0] == "x"
    assert found.named


def test_without_an_incident_nobody_ranks():
    assert ranking([order("abc")]).tests == ()
    assert ranking([]).incidents == 0


def test_plain_logic_and_the_model_agree_on_simulated_histories():
    for polluter, orders in histories(14, 20, whole=True):
        found = ranking(orders)
        if found.incidents >= 3:
            assert polluter in tight(orders)
            assert found.tests[0] in tight(orders)


def test_pairs_of_one_order_are_told():
    assert unseparated([order("abc"), order("bca")], ["a", "b", "c"]) == (("b", "c"),)
    assert unseparated([order("ab"), order("c")], ["a", "b", "c"]) == (("a", "b"),)
    assert unseparated([], ["a"]) == ()


def test_the_simulation_has_the_incidents_that_it_says():
    counts = [sum(bool(one.victims) for one in orders) for _, orders in histories(15, 50, whole=True)]
    assert 4 < np.mean(counts) < BUILDS * LEAKS
    sizes = [len(list(same)) for _, same in groupby(sorted(counts))]
    assert len(sizes) > 5
