"""Each variant's verdict, its rates with their intervals, and what mostly failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flake_report.model.evidence import Build, RetryType
from flake_report.model.made import made
from flake_report.model.rate import FlakeRate, Fleet, History, Interval, Retried, Run, RunVerdict
from flake_report.model.verdict import TestVerdict

from .breakages import breakages
from .episodes import alike_prints, episodes
from .intervals import clopper_pearson_low, jeffreys, over
from .lines import Line, Lines, line_of
from .multiplicity import found
from .segments import Parted, parted
from .steadiness import unsteady
from .trends import by_week, trend
from .verdicts import Facts, judge


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one history. `runs` are builds in which the test ran: all but the skipped ones.

    `victims` are runs in which some attempt was failed by the environment. All others are taken outside breakages:
    `own` are runs with an attempt that ended by itself, `first_failed` those whose first such attempt failed,
    `retried` those of them that had another, `recovered` those of them that then passed; `mixed` are the runs that
    both failed and passed.
    """

    runs: int
    victims: int
    own: int
    first_failed: int
    retried: Retried
    recovered: int
    mixed: tuple[Run, ...]


def tally(history: History, parts: Parted) -> Tally:
    """The counts behind the rates. A lost run is a run of the environment's rate and none of the test's own."""
    sound = parts.sound
    outside = [piece.run for piece in sound if piece.run]
    retried = [run for run in outside if run.retried]
    return Tally(
        runs=sum(streak.runs for streak in history.passes) + len(history.runs),
        victims=sum(run.victim for run in history.runs),
        own=sum(piece.size for piece in sound),
        first_failed=sum(run.first_failed for run in outside),
        retried=_by_whom(retried),
        recovered=sum(run.recovered for run in retried),
        mixed=tuple(run for run in outside if run.verdict is RunVerdict.FLAKY),
    )


def _by_whom(retried: Sequence[Run]) -> Retried:
    if not retried:  # as nearly always
        return Retried()
    by = Counter(run.retry_type for run in retried)
    return Retried(by[None], by[RetryType.AUTOMATIC], by[RetryType.MANUAL])


def main_signature(history: History) -> str:
    """The signature that most failed runs share, own failures and victims alike; empty where none has one.

    Of several that are equally frequent, the first by name.
    """
    named = [run.signature for run in history.runs if run.signature]
    if len({*named}) < 2:  # as nearly always
        return named[0] if named else ""
    counted = Counter(named)
    return min(counted, key=lambda name: (-counted[name], name))


def flake_rates(fleet: Fleet, budget: float, parts: Sequence[Parted] | None = None) -> tuple[FlakeRate, ...]:
    """Verdict and rates of each history, worst first; `budget` is the rate that a test may have.

    `parts` are the fleet's histories in segments, where they are known already.
    Broken tests lead. Then the lower bound of p ranks; where that is equal, the lower bound of the environment's rate,
    then the name.
    """
    parts = parted(fleet) if parts is None else parts
    chosen, like = _distinct(fleet.histories, parts)
    rated = _rated(fleet, chosen, [parts[at] for at in chosen], budget)
    ranks = {rank: nth for nth, rank in enumerate(sorted({one.rank for one in rated}))}
    variants = [history.variant for history in fleet.histories]
    by_name = np.array(sorted(range(len(variants)), key=variants.__getitem__), dtype=np.int64)
    rank = np.array([ranks[one.rank] for one in rated], dtype=np.int64)[like[by_name]]
    order = by_name[rank.argsort(kind="stable")]
    said = [one.rate[1:] for one in rated]  # a rate begins with its variant
    both = zip(order.tolist(), like[order].tolist(), strict=True)
    return tuple(made(FlakeRate, ((variants[at], *said[alike]) for at, alike in both)))


def _distinct(histories: Sequence[History], parts: Sequence[Parted]) -> tuple[list[int], NDArray[np.int64]]:
    """The places of histories that differ in more than their variant; and for each history, which of these is like it.

    Most tests have nothing to tell, and those of one job passed in the same builds: these share their segments, and
    their rates are worked out once. Skipped runs are in no rate, and pools matter to failures alone.
    """
    chosen: list[int] = []
    like = np.empty(len(histories), dtype=np.int64)
    quiet: dict[int, int] = {}
    for at, (history, part) in enumerate(zip(histories, parts, strict=True)):
        nth = len(chosen) if history.runs else quiet.setdefault(id(part), len(chosen))
        if nth == len(chosen):
            chosen.append(at)
        like[at] = nth
    return chosen, like


class _Rated(NamedTuple):
    """A rate, and what ranks it: lists come in order of these."""

    rate: FlakeRate
    rank: tuple[bool, float, float]


def _rated(fleet: Fleet, chosen: Sequence[int], parts: Sequence[Parted], budget: float) -> list[_Rated]:
    """The rates of these histories of the fleet; `parts` are theirs."""
    histories = [fleet.histories[at] for at in chosen]
    tallies = [tally(history, part) for history, part in zip(histories, parts, strict=True)]
    own, low = _counted([(each.first_failed, each.own) for each in tallies])
    environment, environment_low = _counted([(each.victims, each.runs) for each in tallies])
    recovery, _ = _counted([(each.recovered, each.retried.total) for each in tallies])
    above = over(budget, [each.hits for each in own], [each.n for each in own]).tolist()
    weeks = [build.week for build in fleet.builds]
    bouts = _bouts(parts, tallies, weeks)
    known: dict[Line, Line] = {}
    on = [known.setdefault(line, line) for line in map(line_of, fleet.builds)]  # one object a line: quick to compare
    lines = {(pool.step, pool.queue): Lines(on, pool.orders) for pool in fleet.pools}
    rated = []
    for at, history in enumerate(histories):
        here = lines[history.variant.step, history.variant.queue]
        facts = _facts(parts[at], tallies[at], own[at], fleet.builds, here)
        judged = judge(facts)
        rate = FlakeRate(
            variant=history.variant,
            own=own[at],
            environment=environment[at],
            rank_low=low[at],
            signature=main_signature(history),
            verdict=judged.verdict,
            reason=judged.reason,
            recovery=recovery[at],
            retried=tallies[at].retried,
            flaky_runs=len(facts.mixed),
            flakes=_flakes(facts),
            over_budget=above[at],
            also_flaky=judged.also_flaky,
            unsteady=at in bouts,
            segments=parts[at].segments,
            breakages=tuple(facts.breakages),
            trend=trend(history, weeks),
            first_order=parts[at].first,
            last_order=parts[at].last,
        )
        rated.append(_Rated(rate, (judged.verdict is not TestVerdict.BROKEN, -low[at], -environment_low[at])))
    return rated


def _flakes(facts: Facts) -> frozenset[str]:
    """The fingerprints of what shows that a test flakes; empty of a test that nothing shows to."""
    mixed = {run.fingerprint for run in facts.mixed if run.fingerprint}
    return alike_prints(facts.episodes, facts.builds) | mixed


def _bouts(parts: Sequence[Parted], tallies: Sequence[Tally], weeks: Sequence[str]) -> frozenset[int]:
    """The histories whose weeks differ by more than chance, corrected for having looked at all that could."""
    if len({*weeks}) < 2:
        return frozenset()
    looked = [at for at, each in enumerate(tallies) if each.first_failed > 1]
    p_values = np.array([unsteady(*by_week(parts[at].sound, weeks)) for at in looked])
    differs = found(p_values, np.zeros(len(looked)))
    return frozenset(at for at, one in zip(looked, differs.tolist(), strict=True) if one)


def _facts(parts: Parted, counts: Tally, own: Interval, builds: Sequence[Build], lines: Lines) -> Facts:
    return Facts(own, builds, parts.segments, breakages(parts, builds), episodes(parts, lines), counts.mixed)


def interval(hits: int, runs: int) -> Interval:
    """One Jeffreys interval; without any run the rate is 0 and the interval says that it could be anything."""
    (only,), _ = _counted([(hits, runs)])
    return only


def intervals(counts: Sequence[tuple[int, int]]) -> list[Interval]:
    """The rate of each (hits, runs) with its Jeffreys interval."""
    return _counted(counts)[0]


def _counted(counts: Sequence[tuple[int, int]]) -> tuple[list[Interval], list[float]]:
    """Jeffreys intervals of (hits, runs), and exact lower bounds.

    Each pair of counts is worked out once: a fleet has few pairs, and quantiles are dear.
    """
    pairs = sorted(set(counts))
    hits, runs = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    lows, highs = jeffreys(hits, runs)
    exact = clopper_pearson_low(hits, runs)
    known = {
        (x, n): (Interval(n, x, x / n if n else 0.0, low if n else 0.0, high), least)
        for (x, n), low, high, least in zip(pairs, lows.tolist(), highs.tolist(), exact.tolist(), strict=True)
    }
    return [known[pair][0] for pair in counts], [known[pair][1] for pair in counts]
