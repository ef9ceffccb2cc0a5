"""The verdict on a test, and the sentence that says why.

The rules are asked in order, and the first that holds decides. What they are careful of is one mistake: to call a
regression flaky. A run that both failed and passed proves a flake, for its code did not change between. Without a
retry nothing proves one; but two builds that failed alone, with other builds passing between them, and in one and the
same way, are next to never two bad commits. Longer failures, and lone ones that differ, stay what they are: unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flake_report.model.evidence import Build
from flake_report.model.rate import Interval, Run
from flake_report.model.verdict import Breakage, Segment, TestVerdict
from flake_report.model.words import plural

from .episodes import Episode, alike

ENOUGH = 20
"""Runs without a failure from which on a test is called healthy."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the verdict on one history rests on.

    `own` counts first-failed runs among runs with an own attempt, outside breakages; `mixed` are the runs there that
    both failed and passed, in order. `builds` are what orders point to.
    """

    own: Interval
    builds: Sequence[Build]
    segments: Sequence[Segment] = ()
    breakages: Sequence[Breakage] = ()
    episodes: Sequence[Episode] = ()
    mixed: Sequence[Run] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and why; `also_flaky` is for broken tests: outside its breakages it was flaky."""

    verdict: TestVerdict
    reason: str
    also_flaky: bool = field(default=False)


def judge(facts: Facts) -> Judgement:
    """The first verdict that holds."""
    flaky = _flaky(facts)
    if facts.segments and facts.segments[-1].breakage:
        return Judgement(TestVerdict.BROKEN, _broken(facts.breakages[-1]), also_flaky=bool(flaky))
    if flaky:
        return Judgement(TestVerdict.FLAKY, flaky)
    if facts.episodes and facts.episodes[-1].newest:
        return Judgement(TestVerdict.NEW_FAILURE, _new(facts))
    if over := _recovered(facts):
        return Judgement(TestVerdict.RECOVERED, over)
    if facts.episodes:
        return Judgement(TestVerdict.SUSPECT, _suspect(facts))
    return _without_failure(facts.own)


def _flaky(facts: Facts) -> str:
    """Why the test is flaky; empty where nothing shows it."""
    if facts.mixed:
        return f"{_at(facts, facts.mixed)} both failed and passed at one commit"
    if same := alike(facts.episodes):
        return f"{_at(facts, same)} failed, each alone and all with one message"
    return ""


def _broken(breakage: Breakage) -> str:
    since = f"since {breakage.first.label}"
    if breakage.good is None:
        return f"{_failed(breakage)} {since}, where its history begins"
    return f"{_failed(breakage)} {since}; it last passed in {breakage.good.label}"


def _failed(breakage: Breakage) -> str:
    if breakage.failed == breakage.runs:
        return f"failed in all {plural(breakage.runs, 'run')}"
    return f"failed in {breakage.failed} of {plural(breakage.runs, 'run')}"


def _new(facts: Facts) -> str:
    runs = facts.episodes[-1].runs
    if len(runs) == 1:
        return f"{_at(facts, runs)} failed, the newest: too early to say why"
    return f"the newest {len(runs)} builds failed, from {facts.builds[runs[0].order].label} on: too early to say why"


def _recovered(facts: Facts) -> str:
    long = [episode for episode in facts.episodes if len(episode.runs) > 1]
    if facts.breakages:
        last = facts.breakages[-1]
        mended = f"passes since {last.mended.label}" if last.mended else "is over"
        return f"{_failed(last)} from {last.first.label} to {last.last.label}; {mended}"
    if long:
        first, *_, last_run = long[-1].runs
        span = f"from {facts.builds[first.order].label} to {facts.builds[last_run.order].label}"
        return f"failed in {len(long[-1].runs)} builds in a row, {span}; passes since"
    return ""


def _suspect(facts: Facts) -> str:
    runs = [episode.runs[0] for episode in facts.episodes]
    if len(runs) == 1:
        return f"{_at(facts, runs)} failed alone: a rare flake and a commit that was taken back at once look the same"
    return f"{_at(facts, runs)} failed, each alone and in its own way: flake or bad commits, nothing tells"


def _without_failure(own: Interval) -> Judgement:
    if own.n >= ENOUGH:
        runs = f"no failure of its own in {plural(own.n, 'run')}"
        return Judgement(TestVerdict.HEALTHY, f"{runs}: it fails in less than {own.high * 100:.2g} %")
    if own.n:
        runs = f"{plural(own.n, 'run')} of the {ENOUGH} that it takes to call a test healthy"
        return Judgement(TestVerdict.UNKNOWN, f"no failure of its own, but only {runs}")
    return Judgement(TestVerdict.UNKNOWN, "never ran to its own end")


def _at(facts: Facts, runs: Sequence[Run]) -> str:
    """`build 812`, or how many, and the first and last of them."""
    first, last = facts.builds[runs[0].order], facts.builds[runs[-1].order]
    if len(runs) == 1:
        return first.label
    if len(runs) == 2:
        return f"{first.label} and {last.label}"
    return f"{len(runs)} builds, from {first.label} to {last.label},"
