"""First-attempt failure rates of whole tests, files, steps, queues and owners."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flake_report.model.rate import Fleet, History, Interval, Level, RollUp
from flake_report.model.results import TestId

from .clusters import clustered, design_effect, effective
from .intervals import Floats
from .segments import Parted


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


def roll_ups(
    fleet: Fleet, parts: Sequence[Parted], owners: Mapping[TestId, str], levels: Collection[Level] = tuple(Level)
) -> tuple[RollUp, ...]:
    """These levels, outside breakages, most failures first; `parts` are the fleet's histories in segments.

    Tests of one variant are no roll-up, and of tests and files those are left out that never failed.
    """
    placed = _Placed(fleet, parts)
    pools = fleet.pools
    belonging: dict[Level, Callable[[], _Belonging]] = {
        Level.TEST: lambda: _numbered(_tests(fleet.histories, placed.failing)),
        Level.FILE: lambda: _numbered(_files(fleet.histories, placed.failing)),
        Level.STEP: lambda: placed.by_pool(_numbered([pool.step for pool in pools])),
        Level.QUEUE: lambda: placed.by_pool(_numbered([pool.queue for pool in pools])),
    }
    if owners:
        belonging[Level.OWNER] = lambda: _numbered(
            [owners.get(history.variant.test, "") for history in fleet.histories]
        )
    return tuple(
        rollup
        for level, names in belonging.items()
        if level in levels
        for rollup in _level(level, placed.grouped(names()))
    )


class _Belonging(NamedTuple):
    """What each of some things belongs to: the place of its name, -1 where that is nothing; and all names."""

    codes: NDArray[np.int64]
    names: list[str]


def _numbered(names: Sequence[str]) -> _Belonging:
    """Names are numbered as they come; an empty one is none."""
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(name, len(codes)) if name else -1 for name in names], dtype=np.int64)
    return _Belonging(code, list(codes))


def _tests(histories: Sequence[History], failing: Collection[int]) -> list[str]:
    """The test of each history; empty for one of a single variant, or that never failed. `failing` are places."""
    variants = Counter(history.variant.test for history in histories)
    tests = {test for at in failing if variants[test := histories[at].variant.test] > 1}
    return [str(test) if (test := history.variant.test) in tests else "" for history in histories]


def _files(histories: Sequence[History], failing: Collection[int]) -> list[str]:
    """The file of each history; empty for one that never failed."""
    files = {histories[at].file for at in failing}
    return [history.file if history.file in files else "" for history in histories]


def _level(level: Level, groups: Mapping[str, Clusters]) -> Iterator[RollUp]:
    """The roll-ups of one level; each design effect is at least the median of its step's."""
    if not groups:
        return
    effects = np.fmax([group.effect for group in groups.values()], _floors(list(groups.values())))
    runs, failed, jobs = np.array([(group.runs, group.failed, group.jobs) for group in groups.values()]).T
    worths = effective(runs, jobs, effects)
    lows, highs = clustered(failed, runs, worths)
    made = [
        RollUp(
            level=level,
            name=name,
            variants=group.variants,
            own=Interval(group.runs, group.failed, group.failed / group.runs if group.runs else 0.0, low, high),
            jobs=group.jobs,
            failing_jobs=group.failing_jobs,
            design_effect=effect,
            effective=worth,
        )
        for (name, group), effect, worth, low, high in zip(
            groups.items(), effects.tolist(), worths.tolist(), lows.tolist(), highs.tolist(), strict=True
        )
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


class _Placed:
    """Where the own runs of each history lie among the builds of its pool, as stretches of even density."""

    def __init__(self, fleet: Fleet, parts: Sequence[Parted]) -> None:
        pools = {(pool.step, pool.queue): at for at, pool in enumerate(fleet.pools)}
        places = [pools[history.variant.step, history.variant.queue] for history in fleet.histories]
        self._pool = np.array(places, dtype=np.int64)
        self._steps = [pool.step for pool in fleet.pools]
        self._sizes = np.array([len(pool.orders) for pool in fleet.pools], dtype=np.int64)
        at, (first, last, count, failed) = _spread(parts)
        self._of, self._failed = at, failed
        # all pools at once: each has a stretch of numbers of its own
        wide = len(fleet.builds)
        orders = np.array(
            [nth * wide + order for nth, pool in enumerate(fleet.pools) for order in pool.orders], np.int64
        )
        pool = self._pool[at]
        begins = np.concatenate([[0], self._sizes.cumsum()])[pool]
        self._low = np.searchsorted(orders, pool * wide + first) - begins
        self._high = np.searchsorted(orders, pool * wide + last, side="right") - begins
        self._density = count / np.maximum(self._high - self._low, 1)

    @property
    def failing(self) -> list[int]:
        """The histories with a run that failed at first."""
        found: list[int] = np.unique(self._of[self._failed > 0]).tolist()
        return found

    def by_pool(self, pools: _Belonging) -> _Belonging:
        """What each history belongs to, where that follows from its pool."""
        return _Belonging(pools.codes[self._pool], pools.names)

    def grouped(self, histories: _Belonging) -> dict[str, Clusters]:
        """The runs of each name; `histories` is what each of them belongs to.

        A block is what one name has in one pool; blocks lie by name, then by pool.
        """
        code, told = histories
        within = np.flatnonzero(code >= 0)
        variants: list[int] = np.bincount(code[within], minlength=len(told)).tolist()
        both, inverse = np.unique(code[within] * len(self._sizes) + self._pool[within], return_inverse=True)
        block = np.full(len(code), -1, dtype=np.int64)
        block[within] = inverse.reshape(-1)
        name, pool = np.divmod(both, max(len(self._sizes), 1))
        placed = block[self._of]
        found: dict[str, Clusters] = {}
        for low, high in _portions(name, self._sizes[pool]):
            runs, failed, begins = self._cells(placed, pool, low, high)
            firsts = np.flatnonzero(np.diff(name[low:high], prepend=-1))
            for first, after in pairwise([*firsts.tolist(), high - low]):
                inside = slice(begins[first], begins[after])
                at = name[low + first]
                steps = frozenset(self._steps[each] for each in pool[low + first : low + after].tolist())
                found[told[at]] = Clusters.counted(variants[at], steps, runs[inside], failed[inside])
        return found

    def _cells(
        self, block: NDArray[np.int64], pool: NDArray[np.int64], low: int, high: int
    ) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Runs and failed runs of each job in these blocks, a name's builds of a pool each, one after the other.

        Block k begins at the kth of the last answer. `block` is that of each stretch, `pool` that of each block.
        """
        begins = np.concatenate([[0], (self._sizes[pool[low:high]] + 1).cumsum()])  # a density ends after its last cell
        kept = (block >= low) & (block < high)
        base, first, after = begins[block[kept] - low], self._low[kept], self._high[kept]
        rises = np.zeros(begins[-1] + 1)
        np.add.at(rises, base + first, self._density[kept])
        np.add.at(rises, base + after, -self._density[kept])
        failed = np.zeros(begins[-1])
        np.add.at(failed, base + first, self._failed[kept])
        runs = rises.cumsum()[:-1]
        runs[runs < _NOTHING] = 0.0
        return runs, failed, begins


def _spread(parts: Sequence[Parted]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The runs outside breakages: whose each is, and first order, last order, size, first-failed runs; (4, pieces).

    Tests that passed alike share their runs, which are looked at once.
    """
    each = {id(part): part for part in parts}
    sound = [part.sound for part in each.values()]
    places = {part: place for place, part in enumerate(each)}
    like = np.fromiter(map(places.__getitem__, map(id, parts)), dtype=np.int64, count=len(parts))
    rows = [(piece.first, piece.last, piece.size, piece.outcome[0]) for runs in sound for piece in runs]
    sizes = np.array([len(runs) for runs in sound], dtype=np.int64)
    many = sizes[like]
    within = np.arange(many.sum()) - np.repeat(many.cumsum() - many, many)
    which = np.repeat((sizes.cumsum() - sizes)[like], many) + within
    return np.repeat(np.arange(len(parts)), many), np.array(rows, dtype=np.int64).reshape(-1, 4)[which].T


def _portions(name: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Blocks in portions whose jobs memory holds, those of one name together; `name` and size of each, by name."""
    ends = np.flatnonzero(np.diff(name, append=-1)) + 1  # after each name's last block
    portion = sizes.cumsum()[ends - 1] // _CELLS
    cuts = ends[np.flatnonzero(np.diff(portion, append=-1))]
    yield from pairwise([0, *cuts.tolist()])


_CELLS = 4_000_000  # jobs counted at once
_NOTHING = 1e-6  # what sums of densities that cancel leave behind
