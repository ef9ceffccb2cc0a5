"""Rates by queue, kind of GPU, machine and image; and whether one machine is bad."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flake_report.model.evidence import Build
from flake_report.model.machines import Elsewhere, JobPlace, PlaceKind, PlaceRate
from flake_report.model.rate import Fleet, Variant
from flake_report.model.verdict import Segment

from .breakages import broken_at
from .homogeneity import Homogeneity, homogeneity
from .images import image_of
from .multiplicity import family_wise
from .rates import interval


@dataclass(frozen=True, slots=True)
class Troubles:
    """The ids of jobs in which a test failed first by itself, outside breakages, or by the environment."""

    own: Collection[str]
    victims: Collection[str]


def own_troubles(fleet: Fleet, segments: Mapping[Variant, Sequence[Segment]]) -> frozenset[str]:
    """Jobs in which some test failed at first by itself; not in a breakage, for that no machine can help."""
    found: set[str] = set()
    for history in fleet.histories:
        parts = segments.get(history.variant, ())
        found |= {run.job for run in history.runs if run.first_failed and not broken_at(run.order, parts)}
    return frozenset(found)


def place_rates(
    jobs: Sequence[JobPlace],
    troubles: Troubles,
    builds: Sequence[Build],
    gpus: Mapping[str, str],
    elsewhere: Sequence[Elsewhere] = (),
) -> tuple[PlaceRate, ...]:
    """A row a place, most trouble first within its kind; `builds` are what every `order` points to.

    `gpus` names the kind of GPU of each queue that has one. Retries are left out: whoever is asked again has failed
    before. A place without a name is none.
    """
    first = [job for job in jobs if not job.retry]
    names = _Names(gpus)
    rates = [rate for kind, name_of in names.by_kind.items() for rate in _rates(kind, first, name_of, troubles)]
    bad = _bad_machines(first, troubles, builds)
    other = {one.machine: one for one in elsewhere}
    return tuple(
        replace(rate, p_value=bad.get(rate.name, 1.0), elsewhere=other.get(rate.name))
        if rate.kind is PlaceKind.MACHINE
        else rate
        for rate in rates
    )


class _Names:
    """What a job's place is called, by kind."""

    def __init__(self, gpus: Mapping[str, str]) -> None:
        self._images: dict[str, str] = {}
        self.by_kind: dict[PlaceKind, Callable[[JobPlace], str]] = {
            PlaceKind.QUEUE: lambda job: job.queue,
            PlaceKind.GPU: lambda job: gpus.get(job.queue, ""),
            PlaceKind.MACHINE: lambda job: job.machine,
            PlaceKind.IMAGE: lambda job: self._image(job.command),
        }

    def _image(self, command: str) -> str:
        if command not in self._images:
            self._images[command] = image_of(command)
        return self._images[command]


def _rates(
    kind: PlaceKind, jobs: Sequence[JobPlace], name_of: Callable[[JobPlace], str], troubles: Troubles
) -> Iterator[PlaceRate]:
    own = [job for job in jobs if job.job in troubles.own]
    victims = [job for job in jobs if job.job in troubles.victims]
    lost = [job for job in jobs if job.lost]
    troubled = {job.job: job for job in (*own, *victims, *lost)}.values()
    total, bad, by_tests, struck, ended = (
        Counter(name_of(job) for job in some) for some in (jobs, troubled, own, victims, lost)
    )
    made = [
        PlaceRate(kind, name, interval(bad[name], count), by_tests[name], struck[name], ended[name])
        for name, count in total.items()
        if name
    ]
    yield from sorted(made, key=lambda rate: (-rate.trouble.low, -rate.trouble.hits, rate.name))


def _troubled(job: JobPlace, troubles: Troubles) -> bool:
    return job.lost or job.job in troubles.own or job.job in troubles.victims


def _bad_machines(jobs: Sequence[JobPlace], troubles: Troubles, builds: Sequence[Build]) -> dict[str, float]:
    """Each machine's p-value, corrected for having looked at all of them.

    Two tests must agree, and the larger p-value counts. Among jobs, a stratum is a step and queue in one week: other
    weeks had other code. But where one machine gets many jobs of a build, a bad commit strikes it many times at once;
    so the jobs of a build on one machine are also taken as one, in trouble if any is, within their queue and week.
    """
    named = [job for job in jobs if job.machine]
    weeks = [build.week for build in builds]
    machines: dict[str, int] = {}
    strata: dict[tuple[str, ...], int] = {}
    visits: dict[tuple[int, int, int], bool] = {}
    dealt: list[tuple[int, int, bool]] = []
    for job in named:
        machine, week = machines.setdefault(job.machine, len(machines)), weeks[job.order]
        bad = _troubled(job, troubles)
        dealt.append((machine, strata.setdefault((job.step, job.queue, week), len(strata)), bad))
        visit = (machine, strata.setdefault((job.queue, week), len(strata)), job.order)
        visits[visit] = visits.get(visit, False) or bad
    by_job = _tested(dealt)
    by_visit = _tested([(machine, stratum, bad) for (machine, stratum, _), bad in visits.items()])
    corrected = family_wise(
        np.maximum(by_job.p_values, by_visit.p_values), np.maximum(by_job.smallest, by_visit.smallest)
    )
    return dict(zip(machines, corrected.tolist(), strict=True))


def _tested(dealt: Sequence[tuple[int, int, bool]]) -> Homogeneity:
    machines, strata, trouble = np.array(dealt, dtype=np.int64).reshape(-1, 3).T
    return homogeneity(machines, strata, trouble.astype(bool))
