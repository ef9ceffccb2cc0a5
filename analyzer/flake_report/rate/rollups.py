"""First-attempt failure rates of whole tests, files, steps, queues and owners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from flake_report.model.rate import Fleet, History, Interval, Level, RollUp
from flake_report.model.results import TestId

from .clusters import clustered, design_effect, effective
from .intervals import Floats
from .segments import Parted

Named: TypeAlias = Callable[[History], str]
"""What a history belongs to on one level; empty where it belongs to nothing."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """The runs of one name, counted over its jobs; `effect` is their design effect, NaN where nothing can tell.

    A job is a step and queue in one build: shards and retries of it are one, for they share the build. Plain passes are
    counted and not placed: they are taken to lie evenly in the builds of their pool between the ends of their streak,
    which is so exactly where the test ran in each of them.
    """

    variants: int
    steps: frozenset[str]
    runs: int
    failed: int
    jobs: int
    failing_jobs: int
    effect: float

    @classmethod
    def counted(cls, variants: int, steps: frozenset[str], runs: Floats, failed: Floats) -> Clusters:
        """From the runs and the failed runs of each job."""
        jobs, failing = int((runs > 0).sum()), int((failed > 0).sum())
        effect = float(design_effect(failed, runs))
        return cls(variants, steps, round(runs.sum()), round(failed.sum()), jobs, failing, effect)


def roll_ups(fleet: Fleet, parts: Sequence[Parted], owners: Mapping[TestId, str]) -> tuple[RollUp, ...]:
    """Every level, outside breakages, most failures first; `parts` are the fleet's histories in segments.

    Tests of one variant are no roll-up, and of tests and files those are left out that never failed.
    """
    levels: dict[Level, Named] = {
        Level.TEST: lambda history: str(history.variant.test),
        Level.FILE: lambda history: history.file,
        Level.STEP: lambda history: history.variant.step,
        Level.QUEUE: lambda history: history.variant.queue,
        Level.OWNER: lambda history: owners.get(history.variant.test, ""),
    }
    placed = _Placed(fleet, parts)
    return tuple(rollup for level, named in levels.items() for rollup in _level(level, placed.grouped(level, named)))


def _level(level: Level, groups: Mapping[str, Clusters]) -> Iterator[RollUp]:
    """The roll-ups of one level; each design effect is at least the median of its step's."""
    floors = _floors(list(groups.values()))
    made = [
        _rollup(level, name, group, floor if np.isnan(group.effect) else max(floor, group.effect))
        for (name, group), floor in zip(groups.items(), floors, strict=True)
    ]
    yield from sorted(made, key=lambda rollup: (-rollup.own.hits, rollup.name))


def _floors(groups: Sequence[Clusters]) -> list[float]:
    """For each group the largest median over its steps; in a step where it is alone, the median of all groups."""
    known = [group for group in groups if not np.isnan(group.effect)]
    overall = float(np.median([group.effect for group in known])) if known else 1.0
    by_step: dict[str, list[float]] = defaultdict(list)
    for group in known:
        for step in group.steps:
            by_step[step].append(group.effect)
    medians = {step: float(np.median(found)) if len(found) > 1 else overall for step, found in by_step.items()}
    return [max((medians.get(step, overall) for step in group.steps), default=overall) for group in groups]


def _rollup(level: Level, name: str, group: Clusters, effect: float) -> RollUp:
    worth = effective(group.runs, group.jobs, effect)
    low, high = clustered(group.failed, group.runs, worth)
    share = group.failed / group.runs if group.runs else 0.0
    own = Interval(group.runs, group.failed, share, float(low), float(high))
    return RollUp(level, name, group.variants, own, group.jobs, group.failing_jobs, effect, float(worth))


class _Placed:
    """Where the own runs of each history lie among the builds of its pool, as stretches of even density."""

    def __init__(self, fleet: Fleet, parts: Sequence[Parted]) -> None:
        self._histories = fleet.histories
        pools = {(pool.step, pool.queue): at for at, pool in enumerate(fleet.pools)}
        self._pool = [pools[history.variant.step, history.variant.queue] for history in fleet.histories]
        self._sizes = [len(pool.orders) for pool in fleet.pools]
        rows = [
            (at, piece.first, piece.last, piece.size, piece.outcome[0])
            for at, part in enumerate(parts)
            for piece in part.sound
        ]
        at, first, last, count, failed = np.array(rows, dtype=np.int64).reshape(-1, 5).T
        self._of, self._failed = at, failed
        # all pools at once: each has a stretch of numbers of its own
        wide = len(fleet.builds)
        orders = np.array(
            [nth * wide + order for nth, pool in enumerate(fleet.pools) for order in pool.orders], np.int64
        )
        pool = np.array(self._pool, dtype=np.int64)[at]
        begins = np.cumsum([0, *self._sizes])[pool]
        self._low = np.searchsorted(orders, pool * wide + first) - begins
        self._high = np.searchsorted(orders, pool * wide + last, side="right") - begins
        self._density = count / np.maximum(self._high - self._low, 1)

    def grouped(self, level: Level, named: Named) -> dict[str, Clusters]:
        """The runs of each name on one level."""
        members: dict[str, list[int]] = defaultdict(list)
        told: frozenset[str] | None = None
        if level in {Level.TEST, Level.FILE}:
            told = frozenset(named(self._histories[at]) for at in np.unique(self._of[self._failed > 0]).tolist())
        for at, history in enumerate(self._histories):
            name = named(history)
            if name and (told is None or name in told):
                members[name].append(at)
        if level is Level.TEST:
            members = {name: mine for name, mine in members.items() if len(mine) > 1}
        found: dict[str, Clusters] = {}
        for some in self._portions(members):
            found |= self._clusters(some)
        return found

    def _portions(self, members: Mapping[str, Sequence[int]]) -> Iterator[dict[str, Sequence[int]]]:
        """Names in portions whose jobs memory holds."""
        some: dict[str, Sequence[int]] = {}
        cells = 0
        for name, mine in members.items():
            cells += sum(self._sizes[pool] for pool in {self._pool[at] for at in mine})
            some[name] = mine
            if cells > _CELLS:
                yield some
                some, cells = {}, 0
        yield some

    def _clusters(self, members: Mapping[str, Sequence[int]]) -> dict[str, Clusters]:
        """One row of cells a name: its pools' builds one after the other."""
        begins: dict[tuple[str, int], int] = {}
        spans: dict[str, tuple[int, int]] = {}
        starts = np.full(len(self._histories), -1, dtype=np.int64)
        end = 0
        for name, mine in members.items():
            begin = end
            for at in mine:
                place = name, self._pool[at]
                if place not in begins:
                    begins[place] = end
                    end += self._sizes[self._pool[at]] + 1  # a density ends in the cell after its last
                starts[at] = begins[place]
            spans[name] = begin, end
        kept = starts[self._of] >= 0
        base, low, high = starts[self._of][kept], self._low[kept], self._high[kept]
        rises = np.zeros(end + 1)
        np.add.at(rises, base + low, self._density[kept])
        np.add.at(rises, base + high, -self._density[kept])
        failed = np.zeros(end)
        np.add.at(failed, base + low, self._failed[kept])
        runs = rises.cumsum()[:end]
        runs[runs < _NOTHING] = 0.0
        return {
            name: Clusters.counted(
                len(members[name]),
                frozenset(self._histories[at].variant.step for at in members[name]),
                runs[low:high],
                failed[low:high],
            )
            for name, (low, high) in spans.items()
        }


_CELLS = 4_000_000  # jobs counted at once
_NOTHING = 1e-6  # what sums of densities that cancel leave behind
