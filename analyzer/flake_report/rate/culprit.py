"""Who left the memory: by the recorder's samples where there are any, else by the order of tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from flake_report.model.memory import LEAST_FOR_SUSPECTS, Basis, Place, Suspect, Suspicion, TestOrder, Trace

from .leftovers import Leftover, polluter, sampled
from .suspects import LEAST_INCIDENTS, NAMED, ranking, unseparated


def suspicions(orders: Iterable[TestOrder], traces: Iterable[Trace] = ()) -> tuple[Suspicion, ...]:
    """One a place that met an incident, most incidents first."""
    places: dict[Place, list[TestOrder]] = defaultdict(list)
    for order in orders:
        places[order.place].append(order)
    by_job = _by_job(traces)
    found = [_suspicion(place, here, by_job) for place, here in places.items() if any(one.victims for one in here)]
    return tuple(sorted(found, key=lambda one: (-one.incidents, one.place)))


def culprits(orders: Sequence[TestOrder], traces: Iterable[Trace], known: Sequence[Suspicion]) -> dict[str, str]:
    """For each job with an incident whose culprit is known, that test: by the job's own samples, else by its place."""
    by_job = _by_job(traces)
    named = {one.place: one.culprit.test for one in known if one.culprit is not None and one.basis is Basis.ORDER}
    found: dict[str, str] = {}
    for order in orders:
        if not order.victims:
            continue
        left = polluter(by_job.get(order.job, ()), order.victims)
        test = left.tests[0] if left else named.get(order.place, "")
        if test in order.tests:
            found.setdefault(order.job, test)
    return found


def _by_job(traces: Iterable[Trace]) -> Mapping[str, list[Trace]]:
    by_job: dict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        by_job[trace.job].append(trace)
    return by_job


def _suspicion(place: Place, orders: Sequence[TestOrder], traces: Mapping[str, list[Trace]]) -> Suspicion:
    struck = [order for order in orders if order.victims]
    failures = Counter(test for order in struck for test in order.victims)
    victim = min(failures, key=lambda test: (-failures[test], test))
    measured = [order for order in struck if sampled(traces.get(order.job, ()), order.victims)]
    left = [found for order in measured if (found := polluter(traces[order.job], order.victims))]
    jobs = max(len({order.job for order in orders}), *(order.pool_jobs for order in orders))
    if left:
        suspects = _measured(left)
        return Suspicion(place, len(struck), jobs, victim, Basis.SAMPLES, suspects[0], suspects, measured=len(measured))
    ranked = ranking(orders)
    pairs = list(zip(ranked.tests, ranked.probabilities, strict=True))[: ranked.within]
    whole = sum(share for _, share in pairs) >= NAMED and ranked.incidents >= LEAST_FOR_SUSPECTS
    suspects = tuple(Suspect(test, share) for test, share in pairs) if whole else ()
    return Suspicion(
        place=place,
        incidents=len(struck),
        jobs=jobs,
        victim=victim,
        basis=Basis.ORDER,
        culprit=Suspect(*pairs[0]) if ranked.named else None,
        suspects=suspects,
        measured=len(measured),
        outside=ranked.outside if ranked.incidents >= LEAST_INCIDENTS else None,
        orders=len({order.tests for order in orders}),
        unseparated=unseparated(orders, [one.test for one in suspects]),
    )


def _measured(left: Sequence[Leftover]) -> tuple[Suspect, ...]:
    """Whoever was measured to leave memory, the one that did it most often first."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for one in left:
        sizes[one.tests[0]].append(one.size)
    by_name = sorted(sizes.items(), key=lambda item: (-len(item[1]), -median(item[1]), item[0]))
    return tuple(Suspect(test, left=round(median(each)), times=len(each)) for test, each in by_name)
