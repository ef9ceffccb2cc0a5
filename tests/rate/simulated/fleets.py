"""A simulated history as what the store would have counted of it."""

from __future__ import annotations

from hashlib import sha256
from itertools import groupby

import numpy as np

from flake_report.model.evidence import RetryType
from flake_report.model.rate import Fleet, History, Pool, Run, Streak, Variant
from flake_report.model.results import TestId
from flake_report.rate.runs import Fate, verdict

from .world import Cause, Step, Tried, World

SIGNATURE = "bad-agent"
"""What the failures of an agent match whose trouble is known."""

RETRIES = (None, RetryType.AUTOMATIC, RetryType.MANUAL)


def fleet(world: World) -> Fleet:
    """Histories in order of `world.nature`'s rows, which is the order of variants."""
    pools, histories = [], []
    for at, step in enumerate(world.steps):
        present = np.flatnonzero(~step.jobs.absent)
        pools.append(Pool(step_name(at), step.jobs.policy.name, tuple(present.tolist())))
        told = step.told()
        histories += [
            _history(world, at, test, np.flatnonzero(told[test]).tolist(), present.tolist())
            for test in range(world.plan.tests)
        ]
    return Fleet(world.builds, tuple(pools), tuple(histories))


def step_name(at: int) -> str:
    return f"step-{at}"


def job_name(build: int, step: str, job: int) -> str:
    return f"{build}-{step}-{job}"


def variant(world: World, at: int, test: int) -> Variant:
    return Variant(TestId("v1.test_world", f"test_{at}_{test:03}"), step_name(at), world.steps[at].jobs.policy.name, "")


def _history(world: World, at: int, test: int, told: list[int], present: list[int]) -> History:
    step, here = world.steps[at], variant(world, at, test)
    row = at * world.plan.tests + test
    runs = [_run(world, step, here, row, build) for build in told]
    nth = np.searchsorted(told, present)
    skipped = step.first[test] == Cause.SKIP
    plain = [(build, before) for build, before in zip(present, nth.tolist(), strict=True) if build not in set(told)]
    streaks = {
        kept: [
            Streak(same[0], same[-1], len(same))
            for _, group in groupby(
                [(build, before) for build, before in plain if bool(skipped[build]) is kept],
                key=lambda each: (each[1], world.builds[each[0]].week if told else ""),
            )
            for same in [[build for build, _ in group]]
        ]
        for kept in (False, True)
    }
    return History(here, tuple(runs), tuple(streaks[False]), tuple(streaks[True]))


def _run(world: World, step: Step, here: Variant, row: int, build: int) -> Run:
    test = row % world.plan.tests
    attempts = list(step.attempts(test, build, reruns=bool(world.nature.reruns[row])))
    fates = [fate(each) for each in attempts]
    own = [each for each in fates if each in (Fate.FAILED, Fate.PASSED)]
    first_failed = own[:1] == [Fate.FAILED]
    cause = Fate.FAILED if Fate.FAILED in own else Fate.VICTIM
    failed = [each for each, told in zip(attempts, fates, strict=True) if told is cause]
    job = (failed or attempts)[0].job
    return Run(
        variant=here,
        build=str(build),
        order=build,
        created_at=world.builds[build].created_at,
        verdict=verdict(fates),
        first_failed=first_failed,
        retried=first_failed and len(own) > 1,
        recovered=first_failed and Fate.PASSED in own,
        victim=Fate.VICTIM in fates,
        fingerprint=next(filter(None, (fingerprint(world, row, build, each) for each in failed)), ""),
        signature=SIGNATURE if failed and cause is Fate.VICTIM else "",
        agent=step.jobs.where(build, job),
        retry_type=RETRIES[step.jobs.retry[build]],
        job=job_name(build, here.step, job),
    )


def fate(tried: Tried) -> Fate:
    if tried.cause is Cause.SKIP:
        return Fate.SKIPPED
    if tried.cause is Cause.VICTIM:
        return Fate.VICTIM
    if tried.died:
        return Fate.LOST
    return Fate.PASSED if tried.cause is Cause.PASS else Fate.FAILED


def fingerprint(world: World, row: int, build: int, failed: Tried) -> str:
    """What is left of the message: sixteen hex digits that give away nothing of the cause, or no text at all."""
    words = message(world, row, build, failed)
    return sha256(words.encode()).hexdigest()[:16] if words else ""


def message(world: World, row: int, build: int, failed: Tried) -> str:
    """The same cause says the same; now and then a bad commit speaks in the words of the test's own flake."""
    said = int(world.words.said[row, build, failed.job])
    if said < 0:
        return ""
    if failed.cause is Cause.VICTIM:
        return "the environment says so"
    if failed.cause is Cause.BROKEN:
        commit = world.nature.commits[world.nature.broken[row, build]]
        return f"{row} says 0" if world.words.alike[row] else f"{row} says {commit.words}"
    return "the agent says so" if failed.cause is Cause.AGENT else f"{row} says {said}"
