"""Rates by place, on jobs that can be counted by eye."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flake_report.model.evidence import Build
from flake_report.model.machines import Coded, Elsewhere, JobPlaces, PlaceKind
from flake_report.model.rate import Fleet, History, Run, RunVerdict, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment
from flake_report.rate.homogeneity import Homogeneity, homogeneity
from flake_report.rate.images import image_of
from flake_report.rate.jobplaces import coded
from flake_report.rate.machines import own_troubles, place_rates
from flake_report.rate.multiplicity import family_wise
from flake_report.rate.rates import interval

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + timedelta(hours=at), "passed") for at in range(60)
)
FIVE_WEEKS = tuple(replace(one, created_at=MONDAY + timedelta(weeks=3 * at % 5)) for at, one in enumerate(BUILDS))
"""The same, with weeks in no order."""


class Place(NamedTuple):
    """One job."""

    order: int
    step: str
    queue: str
    machine: str
    command: str
    retry: bool
    own: bool
    victim: bool
    lost: bool


def columns(jobs: Sequence[Place]) -> JobPlaces:
    order, step, queue, machine, command, *marks = zip(*jobs, strict=True) if jobs else [()] * len(Place._fields)
    texts = map(coded, (step, queue, machine, command))
    return JobPlaces(np.array(order, dtype=np.int32), *texts, *(np.array(mark, dtype=bool) for mark in marks))


def job(
    at: int,
    machine: str,
    *,
    step: str = "unit",
    queue: str = "L4",
    command: str = "docker run acme/ci:1 pytest",
    retry: bool = False,
    trouble: Collection[str] = (),
) -> Place:
    return Place(
        at, step, queue, machine, command, retry, "own" in trouble, "victim" in trouble, lost="lost" in trouble
    )


def named(rates, kind: PlaceKind) -> dict[str, tuple[int, int]]:
    return {rate.name: (rate.trouble.hits, rate.trouble.n) for rate in rates if rate.kind is kind}


def test_a_job_with_any_trouble_counts_once_in_each_of_its_places() -> None:
    jobs = [
        job(0, "a", trouble=("own", "victim")),
        job(1, "a", trouble=("own", "lost")),
        job(2, "b", trouble=("victim",)),
        job(3, "b", queue="H100"),
        job(4, ""),
    ]
    rates = place_rates(columns(jobs), BUILDS, {"L4": "NVIDIA L4"})
    assert named(rates, PlaceKind.QUEUE) == {"L4": (3, 4), "H100": (0, 1)}
    assert named(rates, PlaceKind.GPU) == {"NVIDIA L4": (3, 4)}
    assert named(rates, PlaceKind.MACHINE) == {"a": (2, 2), "b": (1, 2)}
    assert named(rates, PlaceKind.IMAGE) == {"acme/ci": (3, 5)}
    [a] = [rate for rate in rates if rate.name == "a"]
    assert (a.own, a.victims, a.lost) == (2, 1, 1)


def test_queues_of_one_kind_of_gpu_and_commands_of_one_image_are_counted_together() -> None:
    jobs = [job(0, "a", queue="L4-1", trouble=("own",)), job(0, "a", queue="L4-2", command="docker run acme/ci:2 sh")]
    rates = place_rates(columns(jobs), BUILDS, {"L4-1": "NVIDIA L4", "L4-2": "NVIDIA L4"})
    assert named(rates, PlaceKind.GPU) == {"NVIDIA L4": (1, 2)}
    assert named(rates, PlaceKind.IMAGE) == {"acme/ci": (1, 2)}


def test_retries_are_left_out() -> None:
    jobs = [job(0, "a"), job(0, "a", retry=True, trouble=("own",)), job(0, "b", retry=True)]
    assert named(place_rates(columns(jobs), BUILDS, {}), PlaceKind.MACHINE) == {"a": (0, 1)}


def test_without_jobs_there_are_no_places() -> None:
    assert place_rates(columns([]), (), {}) == ()


def test_a_bad_machine_leads_with_its_p_value_and_what_passed_elsewhere() -> None:
    jobs = [job(at, "abcdef"[at % 6], trouble=("own",) * (at % 6 == 2)) for at in range(60)]
    known = Elsewhere("c", tried=8, passed=7)
    rates = place_rates(columns(jobs), BUILDS, {}, [known])
    machines = [rate for rate in rates if rate.kind is PlaceKind.MACHINE]
    assert machines[0].name == "c"
    assert machines[0].p_value is not None
    assert machines[0].p_value < 1e-6
    assert machines[0].elsewhere == known
    assert all(rate.p_value == 1 and rate.elsewhere is None for rate in machines[1:])
    assert all(rate.p_value is None for rate in rates if rate.kind is not PlaceKind.MACHINE)


def test_a_bad_commit_on_a_machine_that_got_the_whole_build_does_not_make_the_machine_bad() -> None:
    """Each build's twelve steps ran on one machine; one build of machine `a` failed in all of them."""
    jobs = [
        job(at, "abcd"[at % 4], step=f"step-{step}", trouble=("own",) * (at == 8))
        for at in range(60)
        for step in range(12)
    ]
    [a] = [rate for rate in place_rates(columns(jobs), BUILDS, {}) if rate.name == "a"]
    assert (a.trouble.hits, a.p_value) == (12, 1.0)


def in_trouble(one: Place) -> bool:
    return one.own or one.victim or one.lost


def counted_one_by_one(jobs: Sequence[Place], gpus: Mapping[str, str]) -> list[tuple[object, ...]]:
    """What `place_rates` must come to, job by job."""
    first = [one for one in jobs if not one.retry]
    name_of: dict[PlaceKind, Callable[[Place], str]] = {
        PlaceKind.QUEUE: lambda one: one.queue,
        PlaceKind.GPU: lambda one: gpus.get(one.queue, ""),
        PlaceKind.MACHINE: lambda one: one.machine,
        PlaceKind.IMAGE: lambda one: image_of(one.command),
    }
    p_values = p_values_one_by_one([one for one in first if one.machine])
    rows: list[tuple[object, ...]] = []
    for kind, name in name_of.items():
        total, bad, own, victims, lost = (
            Counter(name(one) for one in first if counts(one))
            for counts in (lambda _: True, in_trouble, lambda o: o.own, lambda o: o.victim, lambda o: o.lost)
        )
        rated = [(at, interval(bad[at], total[at])) for at in total if at]
        for at, rate in sorted(rated, key=lambda row: (-row[1].low, -row[1].hits, row[0])):
            p_value = p_values[at] if kind is PlaceKind.MACHINE else None
            rows.append((kind, at, rate, own[at], victims[at], lost[at], p_value))
    return rows


def p_values_one_by_one(jobs: Sequence[Place]) -> dict[str, float]:
    machines: dict[str, int] = {}
    strata: dict[tuple[str, ...], int] = {}
    visits: dict[tuple[int, int, int], bool] = {}
    dealt: list[tuple[int, int, bool]] = []
    for one in jobs:
        machine, week = machines.setdefault(one.machine, len(machines)), FIVE_WEEKS[one.order].week
        dealt.append((machine, strata.setdefault((one.step, one.queue, week), len(strata)), in_trouble(one)))
        visit = (machine, strata.setdefault((one.queue, week), len(strata)), one.order)
        visits[visit] = visits.get(visit, False) or in_trouble(one)
    by_job, by_visit = alike(dealt), alike((machine, at, bad) for (machine, at, _), bad in visits.items())
    p_values = np.maximum(by_job.p_values, by_visit.p_values)
    smallest = np.maximum(by_job.smallest, by_visit.smallest)
    return dict(zip(machines, family_wise(p_values, smallest).tolist(), strict=True))


def alike(dealt: Iterable[tuple[int, int, bool]]) -> Homogeneity:
    machines, strata, trouble = np.array(list(dealt), dtype=np.int64).reshape(-1, 3).T
    return homogeneity(machines, strata, trouble.astype(bool))


def jobs_at_random(seed: int, count: int) -> list[Place]:
    """Machine `b` is bad; jobs of no known machine are worse."""
    rng = np.random.default_rng(seed)
    images = ["", "docker run acme/ci:1 sh", "docker run acme/ci:2 sh", "docker run b/c:1 sh"]
    return [
        job(
            int(rng.integers(60)),
            machine,
            step=str(rng.choice(["unit", "kernels"])),
            queue=str(rng.choice(["L4", "L4-2", "H100"])),
            command=str(rng.choice(images)),
            retry=rng.random() < 0.2,
            trouble=[
                kind for kind in ("own", "victim", "lost") if rng.random() < {"b": 0.3, "": 0.5}.get(machine, 0.1)
            ],
        )
        for machine in rng.choice(["ä", "b", "c", ""], count).tolist()
    ]


def recoded(column: Coded, order: Sequence[int]) -> Coded:
    """The same texts with other codes, and a name that no row has."""
    names = (*column.names, "no row's")
    places = np.array([at for at in order if at < len(names)])
    return Coded(np.argsort(places)[column.codes].astype(np.int32), tuple(names[at] for at in places))


def recoded_all(jobs: JobPlaces, order: Sequence[int]) -> JobPlaces:
    return replace(
        jobs,
        step=recoded(jobs.step, order),
        queue=recoded(jobs.queue, order),
        machine=recoded(jobs.machine, order),
        command=recoded(jobs.command, order),
    )


GPUS = {"L4": "NVIDIA L4", "L4-2": "NVIDIA L4"}


@settings(deadline=None)
@given(st.integers(0, 1 << 32), st.integers(0, 300), st.permutations(range(5)))
def test_columns_count_to_the_last_digit_what_jobs_do_one_by_one_whatever_the_codes(seed, count, order) -> None:
    jobs = jobs_at_random(seed, count)
    rates = place_rates(recoded_all(columns(jobs), order), FIVE_WEEKS, GPUS)
    found = [(one.kind, one.name, one.trouble, one.own, one.victims, one.lost, one.p_value) for one in rates]
    assert found == counted_one_by_one(jobs, GPUS)


def test_what_is_counted_one_by_one_has_p_values_that_tell() -> None:
    """Else the comparison above would compare ones."""
    [p_value] = [row[-1] for row in counted_one_by_one(jobs_at_random(1, 300), {}) if row[1] == "b"]
    assert isinstance(p_value, float)
    assert 0 < p_value < 0.01


def test_a_failure_in_a_breakage_is_no_trouble_of_a_machine() -> None:
    variant = Variant(TestId("m", "t"), "unit", "L4", "")
    runs = tuple(
        Run(variant, str(at), at, BUILDS[at].created_at, RunVerdict.FAILED, first_failed=True, job=f"j{at}")
        for at in (3, 10, 11)
    )
    fleet = Fleet(BUILDS, (), (History(variant, runs, ()),))
    assert own_troubles(fleet, {}) == {"j3", "j10", "j11"}
    assert own_troubles(fleet, {variant: (Segment(10, 20, 11, 11, 0, 11, 0, breakage=True),)}) == {"j3"}
