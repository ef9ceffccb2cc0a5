"""All change points at once, against every other way to cut a history."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.rate.likelihood import Counts, Likelihood
from flake_report.rate.partition import SPLIT, change_points
from rate.simulated.known_bad import bisected

LIKELIHOOD = Likelihood.up_to(1200)


def runs_of(failed: np.ndarray, retried: np.ndarray | None = None, again: np.ndarray | None = None) -> Counts:
    """Counts of single runs, (4, runs)."""
    nothing = np.zeros(len(failed), dtype=np.int64)
    second = nothing if again is None else again
    return np.stack([failed, nothing + 1, second, nothing if retried is None else retried]).astype(np.int64)


def blocks_of(single: Counts) -> tuple[Counts, list[int]]:
    """Neighbours of one outcome together, and where each block begins."""
    begins = [0, *(np.flatnonzero((np.diff(single) != 0).any(axis=0)) + 1).tolist()]
    return np.add.reduceat(single, begins, axis=1), begins


def points(single: Counts) -> list[int]:
    blocks, begins = blocks_of(single)
    return [begins[at] for at in change_points([blocks], LIKELIHOOD)[0]]


def worth(single: Counts, cuts: list[int]) -> float:
    parts = [single[:, low:high].sum(axis=1) for low, high in pairwise([0, *cuts, single.shape[1]])]
    return sum(float(LIKELIHOOD.log(*part)) for part in parts) + SPLIT * len(cuts)


SHORT = st.lists(st.sampled_from([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]), min_size=1, max_size=9)
"""Outcomes of runs: passed; failed; failed and passed on retry; failed twice."""


@given(SHORT, st.integers(1, 12))
def test_no_other_way_to_cut_is_worth_more(outcomes, times) -> None:
    """Every set of cuts of a short history is tried, and not only those where the outcome changes."""
    failed, retried, again = np.array(outcomes).T
    single = np.repeat(runs_of(failed, retried, again), times if len(outcomes) < 4 else 1, axis=1)
    runs = single.shape[1]
    if runs > 11:
        single, runs = single[:, :11], 11
    best = max(worth(single, list(cuts)) for size in range(runs) for cuts in combinations(range(1, runs), size))
    assert worth(single, points(single)) == pytest.approx(best)


def full(single: Counts) -> float:
    """The same optimum by the plain dynamic programme over every run."""
    runs = single.shape[1]
    sums = np.concatenate([np.zeros((4, 1), dtype=np.int64), single.cumsum(axis=1)], axis=1)
    best = np.zeros(runs + 1)
    for end in range(1, runs + 1):
        gained = best[:end] + LIKELIHOOD.log(*(sums[:, [end]] - sums[:, :end]))
        gained[1:] += SPLIT
        best[end] = gained.max()
    return float(best[runs])


@pytest.mark.parametrize("seed", range(40))
def test_long_histories_reach_the_optimum_of_the_plain_dynamic_programme(seed) -> None:
    random = np.random.default_rng(seed)
    rates = np.repeat(random.choice([0, 0.02, 0.1, 0.3, 1], 6), random.integers(1, 60, 6))
    failed = random.random(len(rates)) < rates
    retried = failed & (random.random(len(rates)) < 0.5)
    single = runs_of(failed, retried, retried & (random.random(len(rates)) < 0.7))
    assert worth(single, points(single)) == pytest.approx(full(single))


def test_histories_of_all_lengths_in_one_batch_are_cut_as_each_alone() -> None:
    random = np.random.default_rng(3)
    many = [blocks_of(runs_of(random.random(size) < 0.5))[0] for size in random.integers(1, 300, 400)]
    together = change_points(many, LIKELIHOOD)
    assert together == [change_points([one], LIKELIHOOD)[0] for one in many]


def middle(runs: int, broken: int) -> Counts:
    """A history that failed `broken` times in a row from its middle on, and never else."""
    failed = np.zeros(runs, dtype=np.int64)
    failed[runs // 2 : runs // 2 + broken] = 1
    return runs_of(failed)


SHORTEST = [(100, 14, 6), (240, 15, 5), (1000, 17, 4)]
"""Runs; the shortest breakage in their middle that bisection finds; and optimal partitioning."""


@pytest.mark.parametrize(("runs", "greedy", "optimal"), SHORTEST)
def test_bisection_misses_breakages_in_the_middle_that_are_found_here(runs, greedy, optimal) -> None:
    assert next(size for size in range(1, 60) if points(middle(runs, size))) == optimal
    assert next(size for size in range(1, 60) if bisected(blocks_of(middle(runs, size))[0], LIKELIHOOD)) == greedy


AT_THE_END = [(20, 4), (50, 3), (100, 3), (240, 2)]
"""Passes, and the failures after them that suffice."""


@pytest.mark.parametrize(("passes", "failures"), AT_THE_END)
def test_at_the_end_of_a_history_few_failures_suffice(passes, failures) -> None:
    def cut(size: int) -> list[int]:
        return points(runs_of(np.repeat([0, 1], [passes, size])))

    assert next(size for size in range(1, 10) if cut(size)) == failures
    assert cut(failures) == [passes]


@pytest.mark.parametrize("rate", [0.005, 0.02, 0.1, 0.3])
def test_a_steady_flake_is_not_cut(rate) -> None:
    random = np.random.default_rng(11)
    many = [blocks_of(runs_of(random.random(500) < rate))[0] for _ in range(200)]
    assert sum(bool(cuts) for cuts in change_points(many, LIKELIHOOD)) <= 1


def stays(runs: int, correlation: float):
    """A rate of its own for each stretch of so many runs: Beta with this correlation of two runs in a stretch."""

    def draw(rate: float, random: np.random.Generator) -> np.ndarray:
        weight = 1 / correlation - 1
        return np.repeat(random.beta(rate * weight, (1 - rate) * weight, -(-500 // runs)), runs)[:500]

    return draw


def dealt(correlation: float):
    """The same for six agents, of which each run gets any."""

    def draw(rate: float, random: np.random.Generator) -> np.ndarray:
        weight = 1 / correlation - 1
        return random.beta(rate * weight, (1 - rate) * weight, 6)[random.integers(0, 6, 500)]

    return draw


CLUSTERED = [
    ("agents of their own rates, dealt at random", dealt(0.2), 0.0, 0.01),
    ("weeks that hardly differ", stays(50, 0.01), 0.0, 0.015),
    ("weeks that differ", stays(50, 0.05), 0.01, 0.12),
    ("one agent for 20 runs on end", stays(20, 0.2), 0.05, 0.6),
]
"""What moves the rate, and in how many histories of 500 runs at least and at most a change is found."""


@pytest.mark.parametrize("rate", [0.005, 0.02, 0.1, 0.3])
@pytest.mark.parametrize(("name", "draw", "least", "most"), CLUSTERED)
def test_a_flake_whose_runs_hang_together_is_cut_where_its_rate_stays_elsewhere_for_long(
    name, draw, least, most, rate
) -> None:
    random = np.random.default_rng(3)
    many = [blocks_of(runs_of(random.random(500) < draw(rate, random)))[0] for _ in range(300)]
    assert least <= np.mean([bool(cuts) for cuts in change_points(many, LIKELIHOOD)]) <= most, name


def test_a_history_of_one_outcome_has_no_place_for_a_change() -> None:
    assert points(runs_of(np.zeros(50))) == points(runs_of(np.ones(50))) == []
