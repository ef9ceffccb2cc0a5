"""What failures cost: sums that add up, and regressions that cost nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake_report.model.config import QueueConfig
from flake_report.model.cost import Cost, JobFailure, LossBy, SpentJob
from flake_report.model.rate import FlakeRate, History, Interval, Run, RunVerdict, Variant
from flake_report.model.results import TestId
from flake_report.model.verdict import Segment, TestVerdict
from flake_report.rate.cost import DIED, NO_SIGNATURE, NO_TEST, RETRY_OF_A_PASS, Excuses, cost

VARIANT = Variant(TestId("m", "t"), "unit", "l4", "")
DAY = datetime(2026, 11, 2, tzinfo=UTC)
HOUR = 3600.0


def job(name: str, **fields: Any) -> SpentJob:
    given = {"order": 5, "queue": "l4", "seconds": HOUR, "failed": True, "died": False}
    return SpentJob(name, **{**given, **fields})


def failure(name: str = "a", **fields: Any) -> JobFailure:
    given = {"order": 5, "variant": VARIANT, "signature": "", "fingerprint": "known", "victim": False}
    return JobFailure(name, **{**given, **fields})


def excuses(
    verdict: TestVerdict, *runs: tuple[int, RunVerdict, str], breakage: tuple[int, int] | None = None
) -> Excuses:
    told = tuple(Run(VARIANT, str(at), at, DAY, verdict=each, fingerprint=print_) for at, each, print_ in runs)
    none = Interval(0, 0, 0.0, 0.0, 1.0)
    segments = (Segment(*breakage, 9, 9, 0, 9, 0, breakage=True),) if breakage else ()
    shown = verdict in (TestVerdict.FLAKY, TestVerdict.BROKEN)
    flakes = frozenset(print_ for _, each, print_ in runs if shown and each is RunVerdict.FLAKY)
    rate = FlakeRate(VARIANT, none, none, 0.0, "", verdict=verdict, segments=segments, flakes=flakes)
    return Excuses([History(VARIANT, told, ())], [rate])


FAILED, FLAKY = RunVerdict.FAILED, RunVerdict.FLAKY
NOBODY = Excuses([], [])


def by(found: Cost, which: LossBy) -> dict[str, tuple[float, float]]:
    return {one.name: (one.failed_hours, one.retry_hours) for one in found.losses if one.by is which}


@pytest.mark.parametrize(
    ("failures", "known", "counts"),
    [
        ([failure(victim=True)], NOBODY, True),
        ([failure()], NOBODY, False),
        ([failure(victim=True), failure()], NOBODY, False),
        ([failure()], excuses(TestVerdict.UNKNOWN, (5, FLAKY, "known")), True),
        ([failure()], excuses(TestVerdict.FLAKY, (5, FAILED, "known"), (2, FLAKY, "known")), True),
        ([failure()], excuses(TestVerdict.FLAKY, (5, FAILED, "known"), (2, FLAKY, "other")), False),
        (
            [failure()],
            excuses(TestVerdict.FLAKY, (4, FAILED, "known"), (5, FAILED, "known"), (2, FLAKY, "other")),
            False,
        ),
        ([failure()], excuses(TestVerdict.UNKNOWN, (5, FAILED, "known"), (2, FAILED, "known")), False),
        (
            [failure()],
            excuses(
                TestVerdict.BROKEN, (5, FAILED, "known"), (2, FLAKY, "known"), breakage=(4, 9)
            ),
            False,
        ),
    ],
    ids=[
        "the environment failed it",
        "nothing excuses it",
        "one of two failures is not excused",
        "it passed at the same commit",
        "it flakes, and failed so before",
        "it flakes, and failed in a new way",
        "it flakes, and a commit broke it in another way for two builds",
        "it failed so before, and is not known to flake",
        "it flakes, and was broken then",
    ],
)  # fmt: skip
def test_a_job_counts_when_every_failure_in_it_is_excused(failures, known, counts):
    found = cost([job("a")], failures, known, {})
    assert (found.failed_jobs, found.regressions) == ((1, 0) if counts else (0, 1))
    assert found.hours == (1 if counts else 0)


def test_a_job_without_failed_tests_counts_where_the_environment_is_to_blame():
    jobs = [job("died", died=True), job("infra", signature="no-space"), job("code"), job("stopped", canceled=True)]
    found = cost(jobs, [], NOBODY, {})
    assert by(found, LossBy.SIGNATURE) == {DIED: (1, 0), "no-space": (1, 0)}
    assert by(found, LossBy.TEST) == {NO_TEST: (2, 0)}
    assert found.regressions == 1


def test_retries_are_put_down_to_what_made_them_run():
    jobs = [
        job("a"),
        job("a-again", failed=False, retry_of="a", seconds=HOUR / 2),
        job("broken"),
        job("broken-again", failed=False, retry_of="broken"),
        job("for-luck", failed=False, retry_of="a-pass", seconds=HOUR / 4),
    ]
    found = cost(jobs, [failure(victim=True, signature="free"), failure("broken")], NOBODY, {})
    assert by(found, LossBy.SIGNATURE) == {"free": (1, 0.5), RETRY_OF_A_PASS: (0, 0.25)}
    assert (found.failed_jobs, found.retries, found.regressions) == (1, 2, 1)


def test_a_retry_that_fails_again_counts_once():
    jobs = [job("a"), job("b", retry_of="a")]
    found = cost(jobs, [failure("a", victim=True), failure("b", victim=True)], NOBODY, {})
    assert (found.failed_jobs, found.retries, found.hours) == (2, 0, 2)


def test_hours_are_those_of_all_gpus_and_money_that_of_the_agent():
    queues = {"l4": QueueConfig(gpus=4, price_per_hour=4.5), "cpu": QueueConfig(gpus=0, price_per_hour=0.25)}
    jobs = [job("a"), job("b", queue="cpu", seconds=2 * HOUR), job("c", queue="free")]
    found = cost(jobs, [failure(name, victim=True) for name in "abc"], NOBODY, queues)
    assert by(found, LossBy.QUEUE) == {"l4": (4, 0), "free": (1, 0), "cpu": (0, 0)}
    assert found.money == 4.5 + 2 * 0.25
    assert found.unpriced_hours == 1
    assert {one.name: one.money for one in found.losses if one.by is LossBy.QUEUE} == {
        "l4": 4.5,
        "cpu": 0.5,
        "free": None,
    }


def test_where_no_gpu_was_used_the_dearest_loss_comes_first():
    queues = {name: QueueConfig(gpus=0, price_per_hour=price) for name, price in (("a", 1.0), ("b", 3.0))}
    found = cost(
        [job("x", queue="a"), job("y", queue="b")], [failure(name, victim=True) for name in "xy"], NOBODY, queues
    )
    assert [(one.name, one.money) for one in found.losses if one.by is LossBy.QUEUE] == [("b", 3.0), ("a", 1.0)]
    assert (found.hours, found.money) == (0, 4.0)


def test_without_prices_there_is_no_money():
    found = cost([job("a")], [failure(victim=True)], NOBODY, {"l4": QueueConfig(gpus=2)})
    assert (found.money, found.hours, found.unpriced_hours) == (None, 2, 2)


def test_a_job_without_times_is_counted_and_costs_nothing():
    found = cost([job("a", seconds=None), job("b", seconds=-5.0)], [failure("a", victim=True)], NOBODY, {})
    assert (found.failed_jobs, found.untimed, found.hours) == (1, 1, 0)


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e5),
            st.sampled_from(["l4", "h100", "cpu"]),
            st.booleans(),
            st.lists(st.booleans(), max_size=3),
        ),
        max_size=8,
    )
)
def test_the_losses_of_each_kind_add_up_to_the_whole(drawn):
    jobs = [
        job(str(at), seconds=seconds, queue=queue, died=died, retry_of=str(at - 1) if at % 2 else None)
        for at, (seconds, queue, died, _) in enumerate(drawn)
    ]
    failures = [
        failure(str(at), victim=victim, signature=f"s{place % 2}" if place else "")
        for at, (*_, victims) in enumerate(drawn)
        for place, victim in enumerate(victims)
    ]
    found = cost(jobs, failures, NOBODY, {"l4": QueueConfig(price_per_hour=1.0), "h100": QueueConfig(gpus=8)})
    for which in LossBy:
        mine = [one for one in found.losses if one.by is which]
        assert sum(one.hours for one in mine) == pytest.approx(found.hours)
        assert sum(one.money or 0 for one in mine) == pytest.approx(found.money or 0)
    assert found.hours == pytest.approx(found.failed_hours + found.retry_hours)
    assert NO_SIGNATURE not in by(found, LossBy.TEST)
