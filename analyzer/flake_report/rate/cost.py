"""GPU-hours and money that failures cost which were no regression: the run time of their jobs, and of the retries.

A failed job counts where every failure in it is excused: by the environment, by a pass of the same test at the same
commit, or by the test being known to flake in that way. One failure that may be the code's own makes the job a
regression's, which had to run. A job without failed tests counts where it died, or where its log blames the
environment. Of a retry the whole time counts: it would not have run without the failure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flake_report.model.config import QueueConfig
from flake_report.model.cost import Cost, JobFailure, Loss, LossBy, SpentJob
from flake_report.model.rate import FlakeRate, History, RunVerdict

from .breakages import broken_at

NO_TEST = "(no test)"
NO_SIGNATURE = "(no signature)"
DIED = "(job died)"
RETRY_OF_A_PASS = "(retried without a failure)"  # noqa: S105  # no password


class Excuses:
    """Which failures were no regression."""

    def __init__(self, histories: Iterable[History], rates: Iterable[FlakeRate]) -> None:
        self._flaky = {rate.variant: rate for rate in rates if rate.flakes}
        self._runs = {(history.variant, run.order): run for history in histories for run in history.runs}

    def covers(self, failure: JobFailure) -> bool:
        """Whether this failure says nothing against the commit."""
        if failure.victim:
            return True
        run = self._runs.get((failure.variant, failure.order))
        if run is not None and run.verdict is not RunVerdict.FAILED:
            return True
        if (rate := self._flaky.get(failure.variant)) is None:
            return False
        return failure.fingerprint in rate.flakes and not broken_at(failure.order, rate.segments)


@dataclass(slots=True)
class _Sums:
    hours: dict[tuple[LossBy, str, bool], float] = field(default_factory=lambda: defaultdict(float))
    money: dict[tuple[LossBy, str], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, names: Mapping[LossBy, str], *, retry: bool, hours: float, money: float | None) -> None:
        for by, name in names.items():
            self.hours[by, name, retry] += hours
            if money is not None:
                self.money[by, name] += money

    def losses(self) -> tuple[Loss, ...]:
        found = [
            Loss(by, name, self.hours.get((by, name, False), 0.0), self.hours.get((by, name, True), 0.0),
                 self.money.get((by, name)))
            for by, name in dict.fromkeys((by, name) for by, name, _ in self.hours)
        ]  # fmt: skip
        return tuple(
            sorted(found, key=lambda one: (list(LossBy).index(one.by), -one.hours, -(one.money or 0), one.name))
        )


def cost(
    jobs: Sequence[SpentJob],
    failures: Iterable[JobFailure],
    excuses: Excuses,
    queues: Mapping[str, QueueConfig],
) -> Cost:
    """What was lost; a queue without settings counts as one GPU a job, without a price."""
    inside: dict[str, list[JobFailure]] = defaultdict(list)
    for failure in failures:
        inside[failure.job].append(failure)
    by_id = {job.job: job for job in jobs}
    lost = [job for job in jobs if _lost(job, inside[job.job], excuses)]
    failed = {job.job for job in lost}
    regressions = {job.job for job in jobs if job.failed and not job.canceled} - failed
    retries = [job for job in jobs if job.retry_of is not None and job.job not in failed | regressions]
    retries = [job for job in retries if job.retry_of not in regressions and not job.canceled]
    sums = _Sums()
    for job in (*lost, *retries):
        source = job if job.job in failed else by_id.get(job.retry_of or "")
        for names, part in _names(job, source, inside[source.job] if source else []):
            hours, money = _spent(job, queues)
            priced = None if money is None else money * part
            sums.add(names, retry=job.job not in failed, hours=hours * part, money=priced)
    counted = [(_spent(job, queues), job) for job in (*lost, *retries)]
    prices = [money for (_, money), _ in counted if money is not None]
    return Cost(
        failed_jobs=len(lost),
        retries=len(retries),
        failed_hours=sum(hours for (hours, _), job in counted if job.job in failed),
        retry_hours=sum(hours for (hours, _), job in counted if job.job not in failed),
        money=sum(prices) if prices else None,
        unpriced_hours=sum(hours for (hours, money), _ in counted if money is None),
        untimed=sum(job.seconds is None for _, job in counted),
        regressions=len(regressions),
        losses=sums.losses(),
    )


def _lost(job: SpentJob, failures: Sequence[JobFailure], excuses: Excuses) -> bool:
    if not job.failed or job.canceled:
        return False
    if failures:
        return all(excuses.covers(failure) for failure in failures)
    return job.died or bool(job.signature)


def _names(
    job: SpentJob, source: SpentJob | None, failures: Sequence[JobFailure]
) -> list[tuple[dict[LossBy, str], float]]:
    """To whom the job's time is put down, in equal parts: every failure of the job, or of the one that it retried."""
    if source is None:
        return [(_named(RETRY_OF_A_PASS, NO_TEST, job.queue), 1.0)]
    if not failures:
        return [(_named(source.signature or DIED, NO_TEST, job.queue), 1.0)]
    part = 1 / len(failures)
    return [(_named(one.signature or NO_SIGNATURE, str(one.variant.test), job.queue), part) for one in failures]


def _named(signature: str, test: str, queue: str) -> dict[LossBy, str]:
    return {LossBy.SIGNATURE: signature, LossBy.TEST: test, LossBy.QUEUE: queue}


def _spent(job: SpentJob, queues: Mapping[str, QueueConfig]) -> tuple[float, float | None]:
    """GPU-hours, and money where the queue has a price; a clock that ran backwards counts as no time."""
    queue = queues.get(job.queue, QueueConfig())
    hours = max(job.seconds or 0.0, 0.0) / 3600
    return hours * queue.gpus, None if queue.price_per_hour is None else hours * queue.price_per_hour
