"""The evidence behind a verdict, run by run: `show --why`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from flake_report.model.evidence import Build
from flake_report.model.rate import FlakeRate, Interval, Run
from flake_report.model.story import Stories, Story, ToldAttempt
from flake_report.model.verdict import Breakage, Segment

from . import runs
from .history import build_row, row
from .links import job_url
from .runs import COMMIT, indented, told_runs
from .table import verdict_text
from .words import one_line, plural

SHOWN = 10
"""Variants that are shown unasked."""


def to_text(stories: Stories, *, everything: bool = False) -> Iterator[RenderableType]:
    """Each variant with its numbers, segments, weeks and runs, oldest first."""
    if not stories.stories:
        yield Text(f"no test here is named like {stories.asked}; names are matched as written, capitals too")
        return
    shown = stories.stories if everything else stories.stories[:SHOWN]
    for nth, story in enumerate(shown):
        if nth:
            yield Text()
        yield from _story(story, stories.builds, stories.budget, everything=everything)
    if len(shown) < len(stories.stories):
        more = len(stories.stories) - len(shown)
        yield Text(f"… {more:,} more with that name; give more of it, or --all", style="dim")


def to_json(stories: Stories) -> dict[str, object]:
    """The stable keys of `show --why TEST --format json`: rows as in `tests`, with their segments and told runs."""
    builds = stories.builds
    return {
        "asked": stories.asked,
        "budget": stories.budget,
        "stories": [
            {
                **row(story.rate),
                "segments": [_segment_row(segment, builds) for segment in story.rate.segments],
                "told_runs": [_run_row(run, attempts, builds) for run, attempts in told_runs(story)],
            }
            for story in stories.stories
        ],
    }


def _story(story: Story, builds: Sequence[Build], budget: float, *, everything: bool) -> Iterator[RenderableType]:
    rate, variant = story.rate, story.rate.variant
    where = " · ".join(part for part in (variant.step, variant.queue, variant.session) if part)
    yield Text(one_line(str(variant.test)), style="bold", overflow="fold")
    yield indented(Text(one_line(where), style="dim"), 2)
    yield indented(verdict_text(rate), 2)
    for line in numbers(rate, budget):
        yield indented(Text(line), 2)
    if len(rate.segments) > 1:
        yield indented(Text("segments", style="bold"), 2)
        for segment in rate.segments:
            yield indented(Text(segment_line(segment, builds)), 4)
    for breakage in rate.breakages:
        yield from _breakage(breakage)
    if rate.trend:
        yield indented(Text(f"by week{', breakages included' if rate.breakages else ''}", style="bold"), 2)
        for week in rate.trend:
            struck = f", {plural(week.victims, 'victim')}" if week.victims else ""
            failed = f"{week.first_failures} of {plural(week.runs, 'run')} failed first{struck}"
            yield indented(Text(f"{week.week}  {failed}"), 4)
    yield indented(Text("runs", style="bold"), 2)
    yield from runs.to_text(story, builds, everything=everything)


def numbers(rate: FlakeRate, budget: float) -> Iterator[str]:
    """The rates in words, each with what it rests on."""
    own, recovery, environment = rate.own, rate.recovery, rate.environment
    outside = " outside breakages" if rate.breakages else ""
    if own.n:
        yield f"first attempt failed in {own.hits} of {plural(own.n, 'run')}{outside}: {_share(own)}"
        yield f"over the budget of {budget * 100:g} % with probability {rate.over_budget * 100:.0f} %"
    if recovery.n:
        by = [
            f"{count} {who}"
            for count, who in (
                (rate.retried.session, "in session"),
                (rate.retried.automatic, "automatic"),
                (rate.retried.manual, "by hand"),
            )
            if count
        ]
        retries = f"{plural(recovery.n, 'retried run')}{outside} ({', '.join(by)})"
        yield f"passed on retry in {recovery.hits} of {retries}: {_share(recovery, 0)}"
    if environment.hits:
        yield f"the environment failed {environment.hits} of {plural(environment.n, 'run')}: {_share(environment)}"


def _share(rate: Interval, digits: int = 1) -> str:
    """`3.3 %, 95 % 0.7–10.3`."""
    return f"{rate.rate * 100:.{digits}f} %, 95 % {rate.low * 100:.{digits}f}–{rate.high * 100:.{digits}f}"


def segment_line(segment: Segment, builds: Sequence[Build]) -> str:
    """`build 12 to build 19: 8 of 8 runs failed on every attempt (breakage); began between build 11 and build 12`."""
    span = " to ".join(dict.fromkeys((builds[segment.first].label, builds[segment.last].label)))
    if segment.breakage:
        did = f"{segment.failed} of {plural(segment.runs, 'run')} failed on every attempt: a breakage"
    else:
        did = f"{segment.first_failed} of {plural(segment.runs, 'run')} failed first"
    if segment.earliest is None or segment.latest is None:
        return f"{span}: {did}"
    ends = dict.fromkeys((builds[segment.earliest].label, builds[segment.latest].label))
    began = f"began between {' and '.join(ends)}" if len(ends) > 1 else f"began in {builds[segment.latest].label}"
    return f"{span}: {did}; {began} (95 %)"


def _breakage(breakage: Breakage) -> Iterator[RenderableType]:
    """The commits between which it came and went, and the page of its first failure."""
    yield indented(Text("breakage", style="bold"), 2)
    yield indented(Text(f"broke {_range(breakage.good, breakage.first)}"), 4)
    if breakage.mended:
        yield indented(Text(f"mended {_range(breakage.last, breakage.mended)}"), 4)
    if url := job_url(breakage.first, breakage.job):
        yield Text(f"    {url}", style="dim", no_wrap=True, overflow="ignore")


def _range(after: Build | None, until: Build) -> str:
    """`after 1a2b3c (build 11), up to 4d5e6f (build 12)`."""
    end = f"{until.commit[:COMMIT]} ({until.label})"
    return f"after {after.commit[:COMMIT]} ({after.label}), up to {end}" if after else f"at or before {end}"


def _segment_row(segment: Segment, builds: Sequence[Build]) -> dict[str, object]:
    return {
        "first": build_row(builds[segment.first]),
        "last": build_row(builds[segment.last]),
        "runs": segment.runs,
        "first_failures": segment.first_failed,
        "retried": segment.retried,
        "failed": segment.failed,
        "breakage": segment.breakage,
        "earliest": None if segment.earliest is None else build_row(builds[segment.earliest]),
        "latest": None if segment.latest is None else build_row(builds[segment.latest]),
    }


def _run_row(run: Run, attempts: Sequence[ToldAttempt], builds: Sequence[Build]) -> dict[str, object]:
    build = builds[run.order]
    return {
        **build_row(build),
        "verdict": run.verdict.value,
        "attempts": [
            {
                "job": attempt.job,
                "url": job_url(build, attempt.job),
                "agent": attempt.agent,
                "retry": attempt.job_attempt,
                "retry_type": attempt.retry_type.value if attempt.retry_type else None,
                "lost": attempt.died,
                "outcome": attempt.outcome.value,
                "victim": attempt.environment,
                "signature": attempt.signature,
                "fingerprint": attempt.fingerprint,
                "message": attempt.message,
            }
            for attempt in attempts
        ],
    }
