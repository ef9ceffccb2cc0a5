"""Rates by queue, kind of GPU, machine and image; and whether one machine is bad."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flake_report.model.evidence import Build
from flake_report.model.machines import Coded, Elsewhere, JobPlaces, PlaceKind, PlaceRate
from flake_report.model.rate import Fleet, Variant
from flake_report.model.verdict import Segment

from .breakages import broken_at
from .homogeneity import homogeneity
from .images import image_of
from .multiplicity import family_wise
from .overdispersion import Counts
from .rates import intervals

_Rows: TypeAlias = NDArray[np.bool_]
"""Which jobs: one dimension, a value a job."""


def own_troubles(fleet: Fleet, segments: Mapping[Variant, Sequence[Segment]]) -> frozenset[str]:
    """Jobs in which some test failed at first by itself; not in a breakage, for that no machine can help."""
    found: set[str] = set()
    for history in (each for each in fleet.histories if each.runs):
        parts = segments.get(history.variant, ())
        found |= {run.job for run in history.runs if run.first_failed and not broken_at(run.order, parts)}
    return frozenset(found)


def place_rates(
    jobs: JobPlaces, builds: Sequence[Build], gpus: Mapping[str, str], elsewhere: Sequence[Elsewhere] = ()
) -> tuple[PlaceRate, ...]:
    """A row a place, most trouble first within its kind; `builds` are what every `order` points to.

    `gpus` names the kind of GPU of each queue that has one. Retries are left out: whoever is asked again has failed
    before. A place without a name is none.
    """
    first, troubled = ~jobs.retry, jobs.own | jobs.victim | jobs.lost
    counted = [first, *(first & some for some in (troubled, jobs.own, jobs.victim, jobs.lost))]
    kinds: dict[PlaceKind, tuple[Coded, Callable[[str], str]]] = {
        PlaceKind.QUEUE: (jobs.queue, str),
        PlaceKind.GPU: (jobs.queue, lambda queue: gpus.get(queue, "")),
        PlaceKind.MACHINE: (jobs.machine, str),
        PlaceKind.IMAGE: (jobs.command, image_of),
    }
    rates = [rate for kind, (told, name_of) in kinds.items() for rate in _rates(kind, told, name_of, counted)]
    bad = _bad_machines(jobs, first, troubled, builds)
    other = {one.machine: one for one in elsewhere}
    return tuple(
        replace(rate, p_value=bad[rate.name], elsewhere=other.get(rate.name))
        if rate.kind is PlaceKind.MACHINE
        else rate
        for rate in rates
    )


def _rates(kind: PlaceKind, told: Coded, name_of: Callable[[str], str], counted: Sequence[_Rows]) -> list[PlaceRate]:
    """Rates by what `name_of` makes of a text that is told of each job.

    `counted` are the jobs that count, and of those the ones with any trouble, with own ones, with victims, and lost.
    """
    by_text = np.stack([np.bincount(told.codes[rows], minlength=len(told.names)) for rows in counted], axis=1)
    by_name: defaultdict[str, Counts] = defaultdict(lambda: np.zeros(len(counted), dtype=np.int64))
    for name, counts in zip(map(name_of, told.names), by_text, strict=True):
        if name and counts[0]:
            by_name[name] += counts
    rows = [counts.tolist() for counts in by_name.values()]
    trouble = intervals([(bad, total) for total, bad, *_ in rows])
    made = [PlaceRate(kind, name, rate, *row[2:]) for name, rate, row in zip(by_name, trouble, rows, strict=True)]
    return sorted(made, key=lambda rate: (-rate.trouble.low, -rate.trouble.hits, rate.name))


def _bad_machines(jobs: JobPlaces, first: _Rows, troubled: _Rows, builds: Sequence[Build]) -> dict[str, float]:
    """Each machine's p-value, corrected for having looked at all of them; of no others than the `first` jobs.

    Two tests must agree, and the larger p-value counts. Among jobs, a stratum is a step and queue in one week: other
    weeks had other code. But where one machine gets many jobs of a build, a bad commit strikes it many times at once;
    so the jobs of a build on one machine are also taken as one, in trouble if any is, within their queue and week.
    """
    named = np.array([name != "" for name in jobs.machine.names], dtype=bool)
    rows = first & named[jobs.machine.codes]
    machine, step, queue = (column.codes[rows] for column in (jobs.machine, jobs.step, jobs.queue))
    order, bad = jobs.order[rows], troubled[rows]
    week = np.unique([build.week for build in builds], return_inverse=True)[1].astype(np.int32)[order]
    by_job = homogeneity(machine.astype(np.int64), _numbered(step, queue, week)[0], bad)
    visit, begin = _numbered(machine, queue, order)
    struck = np.bincount(visit, weights=bad) > 0
    by_visit = homogeneity(machine[begin].astype(np.int64), _numbered(queue[begin], week[begin])[0], struck)
    corrected = family_wise(
        np.maximum(by_job.p_values, by_visit.p_values), np.maximum(by_job.smallest, by_visit.smallest)
    )
    return dict(zip(jobs.machine.names, corrected.tolist(), strict=False))  # no value after the last that counts


def _numbered(*columns: NDArray[np.int32]) -> tuple[Counts, Counts]:
    """Rows with equal values in all columns get one number, from 0 in order of first rows; and those first rows.

    Columns hold numbers from 0. No number rests on how values are coded: chances are multiplied in order of strata, and
    would differ in their last digits.
    """
    key = np.ravel_multi_index(columns, [int(column.max(initial=0)) + 1 for column in columns])
    _, begin, at = np.unique(key, return_index=True, return_inverse=True)
    in_order = np.argsort(begin)
    numbers = np.empty_like(in_order)
    numbers[in_order] = np.arange(len(in_order))
    return numbers[at], begin[in_order]
