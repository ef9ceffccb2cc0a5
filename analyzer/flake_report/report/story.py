"""The evidence behind a verdict, run by run: `show --why`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from textwrap import shorten

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.evidence import Build
from flake_report.model.rate import FlakeRate, Run, RunVerdict, Streak
from flake_report.model.story import Stories, Story, ToldAttempt
from flake_report.model.verdict import Breakage, Segment

from .history import build_row, row
from .links import job_url
from .table import verdict_text
from .words import one_line, plural

SHOWN = 10
"""Variants that are shown unasked."""

COMMIT = 10
"""Characters of a commit that are shown."""

STYLES = {RunVerdict.FAILED: "bold red", RunVerdict.FLAKY: "bold yellow"}


def to_text(stories: Stories, *, everything: bool = False) -> Iterator[RenderableType]:
    """Each variant with its numbers, segments, weeks and runs, oldest first."""
    if not stories.stories:
        yield Text(f"no test here is named like {stories.asked}; names are matched as written, capitals too")
        return
    shown = stories.stories if everything else stories.stories[:SHOWN]
    for nth, story in enumerate(shown):
        if nth:
            yield Text()
        yield from _story(story, stories.builds, stories.budget)
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
                "told_runs": [_run_row(run, attempts, builds) for run, attempts in _told(story)],
            }
            for story in stories.stories
        ],
    }


def _story(story: Story, builds: Sequence[Build], budget: float) -> Iterator[RenderableType]:
    rate, variant = story.rate, story.rate.variant
    where = " · ".join(part for part in (variant.step, variant.queue, variant.session) if part)
    yield Text(one_line(str(variant.test)), style="bold", overflow="fold")
    yield _line(Text(one_line(where), style="dim"), 2)
    yield _line(verdict_text(rate), 2)
    for line in numbers(rate, budget):
        yield _line(Text(line), 2)
    if len(rate.segments) > 1:
        yield _line(Text("segments", style="bold"), 2)
        for segment in rate.segments:
            yield _line(Text(segment_line(segment, builds)), 4)
    for breakage in rate.breakages:
        yield from _breakage(breakage)
    if rate.trend:
        yield _line(Text("by week", style="bold"), 2)
        for week in rate.trend:
            struck = f", {plural(week.victims, 'victim')}" if week.victims else ""
            failed = f"{week.first_failures} of {plural(week.runs, 'run')} failed first{struck}"
            yield _line(Text(f"{week.week}  {failed}"), 4)
    yield _line(Text("runs", style="bold"), 2)
    yield from _runs(story, builds)


def numbers(rate: FlakeRate, budget: float) -> Iterator[str]:
    """The rates in words, each with what it rests on."""
    own, recovery, environment = rate.own, rate.recovery, rate.environment
    if own.n:
        share = f"first attempt failed in {own.hits} of {plural(own.n, 'run')}: {own.rate * 100:.1f} %"
        yield f"{share}, 95 % {own.low * 100:.1f}–{own.high * 100:.1f}"
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
        band = f"95 % {recovery.low * 100:.0f}–{recovery.high * 100:.0f}"
        yield f"passed on retry {recovery.hits} of {recovery.n} times ({', '.join(by)}), {band}"
    if environment.hits:
        band = f"95 % {environment.low * 100:.1f}–{environment.high * 100:.1f}"
        yield f"the environment failed {environment.hits} of {plural(environment.n, 'run')}, {band}"


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
    yield _line(Text("breakage", style="bold"), 2)
    yield _line(Text(f"broke {_range(breakage.good, breakage.first)}"), 4)
    if breakage.mended:
        yield _line(Text(f"mended {_range(breakage.last, breakage.mended)}"), 4)
    if url := job_url(breakage.first, breakage.job):
        yield Text(f"    {url}", style="dim", no_wrap=True, overflow="ignore")


def _range(after: Build | None, until: Build) -> str:
    """`after 1a2b3c (build 11), up to 4d5e6f (build 12)`."""
    end = f"{until.commit[:COMMIT]} ({until.label})"
    return f"after {after.commit[:COMMIT]} ({after.label}), up to {end}" if after else f"at or before {end}"


def _runs(story: Story, builds: Sequence[Build]) -> Iterator[RenderableType]:
    """Told runs in full, and what lies between them counted."""
    plain = [(streak, "passed") for streak in story.history.passes]
    plain += [(streak, "only skipped") for streak in story.history.skips]
    told = _told(story)
    for nth in range(len(told) + 1):
        before = told[nth - 1][0].order if nth else -1
        until = told[nth][0].order if nth < len(told) else len(builds)
        for did in ("passed", "only skipped"):
            streaks = [streak for streak, what in plain if what == did and before < streak.first_order < until]
            if streaks:
                yield _line(Text(_between(streaks, did, builds), style="dim"), 4)
        if nth < len(told):
            yield from _run(*told[nth], builds)


def _between(streaks: Sequence[Streak], did: str, builds: Sequence[Build]) -> str:
    first, last = min(each.first_order for each in streaks), max(each.last_order for each in streaks)
    span = " to ".join(dict.fromkeys((builds[first].label, builds[last].label)))
    return f"{span}: {plural(sum(each.count for each in streaks), 'run')} {did}"


def _run(run: Run, attempts: Sequence[ToldAttempt], builds: Sequence[Build]) -> Iterator[RenderableType]:
    build = builds[run.order]
    line = Text(f"{build.label}  {build.commit[:COMMIT]}  ")
    line.append(run.verdict.value, style=STYLES.get(run.verdict, "bold"))
    line.append(f"  {run.created_at:%Y-%m-%d %H:%M}", style="dim")
    yield _line(line, 4)
    for job, inside in groupby(attempts, key=attrgetter("job")):
        tried = list(inside)
        yield _line(Text(_job(tried[0]), style="dim"), 6)
        if url := job_url(build, job):
            yield Text(f"      {url}", style="dim", no_wrap=True, overflow="ignore")
        for attempt in tried:
            yield _line(_attempt(attempt), 8)


def _job(attempt: ToldAttempt) -> str:
    who = f" ({attempt.retry_type.value})" if attempt.retry_type else ""
    retry = f"retry {attempt.job_attempt}{who}" if attempt.job_attempt else ""
    lost = "lost: what ran in it does not count" if attempt.died else ""
    return " · ".join(part for part in (attempt.agent or f"job {attempt.job}", retry, lost) if part)


def _attempt(attempt: ToldAttempt) -> Text:
    line = Text(attempt.outcome.value, style="bold" if attempt.outcome.bad else "")
    said = [f"by the environment: {attempt.signature}" if attempt.environment else attempt.signature]
    said += [
        shorten(one_line(attempt.message), 160, placeholder=" …"),
        f"[{attempt.fingerprint}]" if attempt.fingerprint else "",
    ]
    told = " · ".join(part for part in said if part)
    return Text.assemble(line, f"  {told}" if told else "", overflow="fold")


def _told(story: Story) -> list[tuple[Run, list[ToldAttempt]]]:
    attempts = {order: list(tried) for order, tried in groupby(story.attempts, key=attrgetter("order"))}
    return [(run, attempts.get(run.order, [])) for run in story.history.runs]


def _line(text: Text, indent: int) -> Padding:
    text.overflow = "fold"
    return Padding(text, (0, 0, 0, indent))


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
