"""The two rates of each variant, and what mostly failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flake_report.model.rate import FlakeRate, History, Interval, RunVerdict

from .intervals import clopper_pearson_low, jeffreys

_OWN = frozenset({RunVerdict.PASSED, RunVerdict.FLAKY, RunVerdict.FAILED})


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one history. `runs` are builds in which the test ran: all but the skipped ones.

    `own` are runs with an attempt that ended by itself, `first_failed` those whose first such attempt failed,
    `victims` runs in which some attempt was failed by the environment.
    """

    runs: int
    own: int
    first_failed: int
    victims: int


def tally(history: History) -> Tally:
    """The counts behind both rates. A lost run is a run of the environment's rate and none of the test's own."""
    passes = sum(streak.count for streak in history.passes)
    return Tally(
        runs=passes + len(history.runs),
        own=passes + sum(run.verdict in _OWN for run in history.runs),
        first_failed=sum(run.first_failed for run in history.runs),
        victims=sum(run.victim for run in history.runs),
    )


def main_signature(history: History) -> str:
    """The signature that most failed runs share, own failures and victims alike; empty where none has one.

    Of several that are equally frequent, the first by name.
    """
    counted = Counter(run.signature for run in history.runs if run.signature)
    return min(counted, key=lambda name: (-counted[name], name), default="")


def flake_rates(histories: Sequence[History]) -> tuple[FlakeRate, ...]:
    """Both rates of each history with their intervals, worst first.

    The own rate p is taken over all runs with an own attempt: a regression that has not been told apart from a flake
    still counts in it. Ranked by the lower bound of p; where that is equal, by the lower bound of the environment's
    rate, then by name.
    """
    tallies = [tally(history) for history in histories]
    own = _intervals([each.first_failed for each in tallies], [each.own for each in tallies])
    environment = _intervals([each.victims for each in tallies], [each.runs for each in tallies])
    low = _lower([each.first_failed for each in tallies], [each.own for each in tallies])
    environment_low = _lower([each.victims for each in tallies], [each.runs for each in tallies])
    rates = [
        FlakeRate(history.variant, p, e, rank, main_signature(history))
        for history, p, e, rank in zip(histories, own, environment, low, strict=True)
    ]
    order = sorted(range(len(rates)), key=lambda at: (-low[at], -environment_low[at], rates[at].variant))
    return tuple(rates[at] for at in order)


def _intervals(hits: list[int], runs: list[int]) -> list[Interval]:
    """Jeffreys intervals; without any run the rate is 0 and the interval says that it could be anything."""
    pairs, back = _distinct(hits, runs)
    lows, highs = jeffreys(pairs[:, 0], pairs[:, 1])
    made = [
        Interval(int(n), int(x), x / n if n else 0.0, low if n else 0.0, high)
        for (x, n), low, high in zip(pairs.tolist(), lows.tolist(), highs.tolist(), strict=True)
    ]
    return [made[at] for at in back]


def _lower(hits: list[int], runs: list[int]) -> list[float]:
    pairs, back = _distinct(hits, runs)
    lows: list[float] = clopper_pearson_low(pairs[:, 0], pairs[:, 1]).tolist()
    return [lows[at] for at in back]


def _distinct(hits: list[int], runs: list[int]) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], list[int]]:
    """Each pair of counts once, and for each test its pair: a fleet has few pairs, and quantiles are dear."""
    pairs, back = np.unique(np.array([hits, runs], dtype=np.int64).T.reshape(-1, 2), axis=0, return_inverse=True)
    return pairs, back.reshape(-1).tolist()
