"""The verdict on a test, and the sentence that says why.

The rules are asked in order, and the first that holds decides. What they are careful of is one mistake: to call a
regression flaky. A run that both failed and passed proves a flake, for its code did not change between. Without a
retry nothing proves one; but two builds of a branch that failed alone, with other builds passing between them, and in
one and the same way, are next to never two bad commits. Longer failures, and lone ones that differ, or that lie on
different branches, stay what they are: unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flake_report.model.evidence import Build
from flake_report.model.rate import Interval, Run
from flake_report.model.verdict import Breakage, Segment, TestVerdict
from flake_report.model.words import plural

from .episodes import Episode, alike
from .lines import line_of

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
    if newest := next((episode.runs for episode in facts.episodes if episode.newest), ()):
        return Judgement(TestVerdict.NEW_FAILURE, _new(newest, facts.builds))
    if over := _recovered(facts):
        return Judgement(TestVerdict.RECOVERED, over)
    if facts.episodes:
        return Judgement(TestVerdict.SUSPECT, _suspect(facts))
    return _without_failure(facts.own)


def _flaky(facts: Facts) -> str:
    """Why the test is flaky; empty where nothing shows it."""
    if facts.mixed:
        each = "both" if len(facts.mixed) == 1 else "each"
        return f"{_at(facts, facts.mixed)} {each} failed and passed at one commit"
    if same := alike(facts.episodes, facts.builds):
        return f"{_at(facts, same)} failed, each alone and all with one message"
    return ""


def _broken(breakage: Breakage) -> str:
    since = f"since {breakage.first.label}"
    if breakage.good is None:
        return f"{_failed(breakage)} {since}, where its history begins"
    if breakage.failed < breakage.runs:
        return f"{_failed(breakage)} {since}; before that it passed in {breakage.good.label}"
    return f"{_failed(breakage)} {since}; it last passed in {breakage.good.label}"


def _failed(breakage: Breakage) -> str:
    if breakage.failed == breakage.runs:
        return f"failed in all {plural(breakage.runs, 'run')}"
    return f"failed in {breakage.failed} of {plural(breakage.runs, 'run')}"


def _new(runs: Sequence[Run], builds: Sequence[Build]) -> str:
    """Of the newest result, not of the newest build: victims and skips may have followed, and tell nothing."""
    first, last = builds[runs[0].order].label, builds[runs[-1].order].label
    if len(runs) == 1:
        return f"failed in {first}, its newest result: too early to say why"
    where = " on that branch" if len({line_of(build) for build in builds}) > 1 else ""
    return f"its {len(runs)} newest results{where} are failures, from {first} to {last}: too early to say why"


def _recovered(facts: Facts) -> str:
    """What is over, the last of it, and whether anything failed since; empty where nothing is."""
    ends = [segment.last for segment in facts.segments if segment.breakage]
    long = [episode.runs for episode in facts.episodes if len(episode.runs) > 1 and episode.over]
    if long and long[-1][-1].order > max(ends, default=-1):
        first, *_, last = long[-1]
        end, since = last.order, "passes since"
        told = f"failed in {len(long[-1])} builds in a row, {_span(facts, first.order, last.order)}"
    elif ends:
        over = facts.breakages[-1]
        end, since = ends[-1], f"passes since {over.mended.label}" if over.mended else "is over"
        told = f"{_failed(over)} from {over.first.label} to {over.last.label}"
    else:
        return ""
    again = [run for episode in facts.episodes for run in episode.runs if run.order > end]
    return f"{told}; {f'since then {_at(facts, again)} failed' if again else since}"


def _suspect(facts: Facts) -> str:
    """What failed, and what it is that keeps anybody from telling why."""
    runs = sorted((run for episode in facts.episodes for run in episode.runs), key=lambda run: run.order)
    at, builds = _at(facts, runs), [facts.builds[run.order] for run in runs]
    if several := _several_lines(builds):
        return f"{at} failed, {several}: flakes or what was changed there, nothing tells"
    if not all(episode.over for episode in facts.episodes):
        return f"{at} failed, and nothing passed on that branch since: a flake or what was changed there, nothing tells"
    if len(runs) == 1:
        return f"{at} failed alone: a rare flake and a commit that was taken back at once look the same"
    if len({build.commit for build in builds}) == 1 and builds[0].commit:
        return f"{at} failed, all at one commit: a bad commit that was built again and a rare flake look the same"
    return f"{at} failed, each alone and none known to be like another: flake or bad commits, nothing tells"


def _several_lines(builds: Sequence[Build]) -> str:
    """`on 2 branches`, or pipelines where these differ; empty where all builds are of one."""
    pipelines = {(build.org, build.pipeline) for build in builds}
    if len(pipelines) > 1:
        return f"in {len(pipelines)} pipelines"
    branches = {line_of(build) for build in builds}
    return f"on {len(branches)} branches" if len(branches) > 1 else ""


def _without_failure(own: Interval) -> Judgement:
    if own.n >= ENOUGH:
        runs = f"no failure of its own in {plural(own.n, 'run')}"
        return Judgement(TestVerdict.HEALTHY, f"{runs}: its rate is below {own.high * 100:.1f} % (95 % sure)")
    if own.n:
        runs = f"{plural(own.n, 'run')} of the {ENOUGH} that it takes to call a test healthy"
        return Judgement(TestVerdict.UNKNOWN, f"no failure of its own, but only {runs}")
    return Judgement(TestVerdict.UNKNOWN, "never ran to its own end")


def _span(facts: Facts, first: int, last: int) -> str:
    return f"from {facts.builds[first].label} to {facts.builds[last].label}"


def _at(facts: Facts, runs: Sequence[Run]) -> str:
    """`build 812`, or how many, and the first and last of them."""
    first, last = facts.builds[runs[0].order], facts.builds[runs[-1].order]
    if len(runs) == 1:
        return first.label
    if len(runs) == 2:
        return f"{first.label} and {last.label}"
    return f"{len(runs)} builds, from {first.label} to {last.label},"
