"""Which setting fits a test: the risk of each utilization, what the test needs, what no setting mends.

Free memory is counted as a share of the card, as utilization is: an engine is refused when its share is not free.
Sizes in logs are rounded to 0.01 GiB, so no verdict on a start is drawn from them again: whether it was refused is what
the engine said, and what another setting would have met is decided with half a step to spare.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, nextafter

from flake_report.model.memory import GIB, Fit, Place, Refusal, Risk, Start, Tuning, largest_utilization

from .survival import Below, Free, passes_for

MIRRORED = 0.3 * GIB
"""In use and asked for are then taken for the same: an engine uses a little more than its setting says."""

_SAME_CARD = 1.03
"""Samples of old drivers count what the driver keeps for itself, too: 22.49 GiB of an L4, of which CUDA has 22.05."""

_STEPS = 100  # settings are advised in hundredths


def tunings(
    starts: Iterable[Start],
    *,
    budget: float,
    held: Mapping[tuple[str, Place], int] | None = None,
    tried: Sequence[float] = (),
) -> tuple[Tuning, ...]:
    """One for each test, place and size of card; most refusals first. `tried` are settings to tell of, too.

    `held` is what the recorder saw a test hold at its end.
    """
    groups: dict[tuple[str, Place], list[Start]] = defaultdict(list)
    for start in starts:
        groups[start.test, start.place].append(start)
    found = []
    for (test, place), mine in groups.items():
        cards, homeless = _by_card(mine)
        for card in cards:
            one = _tuning(card, budget, tried, (held or {}).get((test, place)), homeless)
            found.append(one)
    return tuple(sorted(found, key=lambda one: (-len(one.refusals), one.test, one.place, one.total)))


def _by_card(starts: Sequence[Start]) -> tuple[list[list[Start]], int]:
    """Starts by size of card; those that do not say it belong to the one size there is, else nowhere: their count."""
    sizes: list[list[int]] = []
    for total in sorted(start.total for start in starts if start.total):
        if sizes and total <= sizes[-1][0] * _SAME_CARD:
            sizes[-1].append(total)
        else:
            sizes.append([total])
    if len(sizes) <= 1:
        return [list(starts)], 0
    cards = [[one for one in starts if one.total and size[0] <= one.total <= size[-1]] for size in sizes]
    return cards, sum(start.count for start in starts if not start.total)


def _tuning(starts: Sequence[Start], budget: float, tried: Sequence[float], held: int | None, ignored: int) -> Tuning:
    first = starts[0]
    total = _size(starts)
    refusals = tuple(_refusal(start, total) for start in starts if start.refused and start.free is not None)
    free = _distribution(starts)
    need = _need(starts, total)
    came_up = [start.utilization for start in starts if start.up]
    newest = max(starts, key=lambda start: (start.created_at, start.build))
    fit, advised = _advice(free, refusals, budget=budget, current=newest.utilization, need=(need or 0) / (total or 1))
    shown = {*(start.utilization for start in starts), *tried, *([advised] if advised else [])}
    worst = min((refusal.free for refusal in refusals), default=0)
    return Tuning(
        test=first.test,
        place=first.place,
        total=total,
        device=next((start.device for start in starts if start.device), ""),
        starts=sum(start.count for start in starts),
        refusals=refusals,
        risks=tuple(_risk(free, u, total) for u in sorted(shown, reverse=True)),
        budget=budget,
        fit=fit,
        advised=advised,
        current=newest.utilization,
        need=need,
        held=held,
        least_kv=min((one.kv for one in starts if one.up and one.kv is not None and one.kv > 0), default=None),
        floor=min(came_up, default=None),
        leftover=max((need or 0) - worst, 0) if refusals else 0,
        needed_passes=passes_for(budget),
        ignored=ignored,
        mirrored_advice=_mirrored_advice(refusals, current=newest.utilization, need=(need or 0) / (total or 1)),
    )


def _size(starts: Sequence[Start]) -> int:
    """The size of the card: as engines told it with what was free, else as the jobs' samples have it; 0 for unknown."""
    told = [start.total for start in starts if start.total and start.free is not None]
    sizes = Counter(told or [start.total for start in starts if start.total])
    return max(sizes, key=lambda size: (sizes[size], size), default=0)


def _need(starts: Sequence[Start], total: int) -> int | None:
    """What the test needs besides its KV cache, at least; None where no engine told.

    An engine adds up its parts, or only some of them; and what it has left for the KV cache is all that it asked for
    less the rest. Of several such differences the least counts: a neighbour that grew meanwhile makes one too large.
    """
    told = max((start.base for start in starts if start.base is not None), default=0)
    kept = (ceil(total * one.utilization) - one.kv for one in starts if total and one.up and one.kv)
    return max(told, min((rest for rest in kept if rest > 0), default=0)) or None


def _distribution(starts: Sequence[Start]) -> Free:
    known = [start for start in starts if start.free is not None and start.total]
    return Free(
        exact=[share for start in known for share in [_share_free(start)] * start.count],
        at_least=[
            setting
            for start in starts
            if not start.refused and not (start.free is not None and start.total)
            for setting in [start.utilization] * start.count
        ],
    )


def _share_free(start: Start) -> float:
    """The share of the card that was free; of a refused start below its setting, whatever rounding says."""
    share = (start.free or 0) / (start.total or 1)
    return min(share, nextafter(start.utilization, 0)) if start.refused else share


def _refusal(start: Start, total: int) -> Refusal:
    size = start.total or total
    free = start.free or 0
    asked = start.requested if start.requested is not None else ceil(size * start.utilization)
    return Refusal(
        build=start.build,
        job=start.job,
        created_at=start.created_at,
        utilization=start.utilization,
        free=free,
        asked=asked,
        total=size,
        mirrored=abs(size - free - asked) <= MIRRORED,
    )


def _risk(free: Free, utilization: float, total: int) -> Risk:
    below = free.below(utilization)
    return Risk(
        utilization=utilization,
        asks=ceil(total * utilization),
        rate=below.rate,
        low=below.low,
        high=below.high,
        at_most=below.at_most,
        effective=below.effective,
        known=below.known,
    )


def _advice(
    free: Free, refusals: Sequence[Refusal], *, budget: float, current: float, need: float
) -> tuple[Fit, float | None]:
    """The largest setting, no higher than today's, of which the most can be said; `need` is a share of the card."""
    steps = [current, *(step / _STEPS for step in range(ceil(current * _STEPS) - 1, 0, -1))]
    # The risk falls from step to step, so the first that is within the budget is found by halving.
    within = bisect_left(steps, 1, key=lambda u: int(_certified(free.below(u), budget)))
    sure = steps[within] if within < len(steps) else None
    if sure is not None and sure >= need:
        return Fit.CERTIFIED, sure
    best = min([current, *(largest_utilization(one.free, one.total) for one in refusals)])
    if refusals and (best <= 0 or best < need):
        return Fit.CLEAN, None
    return Fit.SEEN, best


def _certified(risk: Below, budget: float) -> bool:
    return risk.known and risk.at_most <= budget


def _mirrored_advice(refusals: Sequence[Refusal], *, current: float, need: float) -> float | None:
    """The largest setting that passes every failure seen, if what mirrors it shrinks with it; None if nothing does.

    Then free(u) = free + (u0 − u) T, and u T <= free(u) holds up to u = (free + u0 T) / 2 T. As all advice, it is no
    higher than today's setting, and none where the test does not fit into it.
    """
    if not any(one.mirrored for one in refusals):
        return None
    bounds = [
        largest_utilization((one.free + one.asked) / 2 if one.mirrored else one.free, one.total) for one in refusals
    ]
    best = min(current, *bounds)
    return best if best > 0 and best >= need else None
