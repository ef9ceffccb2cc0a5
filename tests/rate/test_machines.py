"""Rates by place, on jobs that can be counted by eye."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flake_report.model.evidence import Build
from flake_report.model.machines import Elsewhere, JobPlace, PlaceKind
from flake_report.model.rate import Fleet, History, Run, RunVerdict, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment
from flake_report.rate.images import image_of
from flake_report.rate.machines import Troubles, own_troubles, place_rates

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + timedelta(hours=at), "passed") for at in range(60)
)


def job(at: int, machine: str, *, retry: bool = False, lost: bool = False, queue: str = "L4") -> JobPlace:
    return JobPlace(
        at, f"{at}{machine}{'r' * retry}", "unit", queue, machine, "docker run acme/ci:1 pytest", retry, lost
    )


def named(rates, kind: PlaceKind) -> dict[str, tuple[int, int]]:
    return {rate.name: (rate.trouble.hits, rate.trouble.n) for rate in rates if rate.kind is kind}


def test_a_job_with_any_trouble_counts_once_in_each_of_its_places() -> None:
    jobs = [job(0, "a"), job(1, "a", lost=True), job(2, "b"), job(3, "b", queue="H100"), job(4, "")]
    rates = place_rates(jobs, Troubles(own={"0a", "1a"}, victims={"0a", "2b"}), BUILDS, {"L4": "NVIDIA L4"})
    assert named(rates, PlaceKind.QUEUE) == {"L4": (3, 4), "H100": (0, 1)}
    assert named(rates, PlaceKind.GPU) == {"NVIDIA L4": (3, 4)}
    assert named(rates, PlaceKind.MACHINE) == {"a": (2, 2), "b": (1, 2)}
    assert named(rates, PlaceKind.IMAGE) == {"acme/ci": (3, 5)}
    [a] = [rate for rate in rates if rate.name == "a"]
    assert (a.own, a.victims, a.lost) == (2, 1, 1)


def test_retries_are_left_out() -> None:
    rates = place_rates([job(0, "a"), job(0, "a", retry=True)], Troubles({"0ar"}, ()), BUILDS, {})
    assert named(rates, PlaceKind.MACHINE) == {"a": (0, 1)}


def test_a_bad_machine_leads_with_its_p_value_and_what_passed_elsewhere() -> None:
    jobs = [job(at, "abcdef"[at % 6]) for at in range(60)]
    known = Elsewhere("c", tried=8, passed=7)
    rates = place_rates(jobs, Troubles({f"{at}c" for at in range(2, 60, 6)}, ()), BUILDS, {}, [known])
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
        JobPlace(at, f"{at}-{step}", f"step-{step}", "L4", "abcd"[at % 4], "", retry=False, lost=False)
        for at in range(60)
        for step in range(12)
    ]
    rates = place_rates(jobs, Troubles({f"8-{step}" for step in range(12)}, ()), BUILDS, {})
    [a] = [rate for rate in rates if rate.name == "a"]
    assert (a.trouble.hits, a.p_value) == (12, 1.0)


def test_a_failure_in_a_breakage_is_no_trouble_of_a_machine() -> None:
    variant = Variant(TestId("m", "t"), "unit", "L4", "")
    runs = tuple(
        Run(variant, str(at), at, BUILDS[at].created_at, RunVerdict.FAILED, first_failed=True, job=f"j{at}")
        for at in (3, 10, 11)
    )
    fleet = Fleet(BUILDS, (), (History(variant, runs, ()),))
    assert own_troubles(fleet, {}) == {"j3", "j10", "j11"}
    assert own_troubles(fleet, {variant: (Segment(10, 20, 11, 11, 0, 11, 0, breakage=True),)}) == {"j3"}


IMAGES = {
    "a tag": ("docker run acme/ci:build-7 pytest", "acme/ci"),
    "a registry with a port, after switches": ("sudo docker run --rm -it acme.io:5000/a/b:1.2 sh", "acme.io:5000/a/b"),
    "a digest": (f"podman run acme/ci@sha256:{'0f' * 32} x", "acme/ci"),
    "mounts and ports are no images": ("docker run -v /a:/a -p 80:8080 --gpus all -e A=b:c acme/ci:1 a:b", "acme/ci"),
    "an option with its value": ("docker run --name=x:y acme/ci:1", "acme/ci"),
    "no tag": ("docker run acme/ci pytest", ""),
    "no container": ("pytest tests/a.py::b", ""),
    "another command after it": ("docker run acme && echo a:b", ""),
    "nothing": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize(("command", "image"), IMAGES.values(), ids=IMAGES.keys())
def test_the_image_is_the_one_that_the_command_names(command, image) -> None:
    assert image_of(command) == image
