"""The runs of one test, oldest first: what needs telling in full, what lies between counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from textwrap import shorten
from typing import TypeAlias

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from flake_report.model.evidence import Build
from flake_report.model.rate import Run, RunVerdict, Streak
from flake_report.model.story import Story, ToldAttempt

from .links import job_url
from .words import one_line, plural

COMMIT = 10
"""Characters of a commit that are shown."""

ALIKE = 4
"""Runs in a row that failed in one way, from which on only the first and the last of them are told unasked."""

STYLES = {RunVerdict.FAILED: "bold red", RunVerdict.FLAKY: "bold yellow"}

ToldRun: TypeAlias = tuple[Run, list[ToldAttempt]]
"""A run with its attempts in order."""


def told_runs(story: Story) -> list[ToldRun]:
    """The runs that need telling, in order."""
    attempts = {order: list(tried) for order, tried in groupby(story.attempts, key=attrgetter("order"))}
    return [(run, attempts.get(run.order, [])) for run in story.history.runs]


def to_text(story: Story, builds: Sequence[Build], *, everything: bool) -> Iterator[RenderableType]:
    """Lines for a terminal; `builds` are what every order points to."""
    told = told_runs(story)
    between = [list(_plain(story, told, nth, builds)) for nth in range(len(told) + 1)]
    groups: list[list[ToldRun]] = []
    for nth, one in enumerate(told):
        if groups and not between[nth] and _alike(groups[-1][-1][0], one[0]):
            groups[-1].append(one)
        else:
            groups.append([one])
    at = 0
    for group in groups:
        yield from between[at]
        yield from _group(group, builds, everything=everything)
        at += len(group)
    yield from between[at]


def indented(text: Text, indent: int) -> Padding:
    """A line that is folded where the terminal is narrow."""
    text.overflow = "fold"
    return Padding(text, (0, 0, 0, indent))


def _plain(story: Story, told: Sequence[ToldRun], nth: int, builds: Sequence[Build]) -> Iterator[RenderableType]:
    """What was plain before the nth told run and after the one before it."""
    before = told[nth - 1][0].order if nth else -1
    until = told[nth][0].order if nth < len(told) else len(builds)
    for streaks, did in ((story.history.passes, "passed"), (story.history.skips, "only skipped")):
        if within := [streak for streak in streaks if before < streak.first_order < until]:
            yield indented(Text(_between(within, did, builds), style="dim"), 4)


def _alike(one: Run, other: Run) -> bool:
    same = one.verdict is other.verdict is RunVerdict.FAILED and one.fingerprint == other.fingerprint
    return same and bool(one.fingerprint)


def _group(group: Sequence[ToldRun], builds: Sequence[Build], *, everything: bool) -> Iterator[RenderableType]:
    if everything or len(group) < ALIKE:
        for one in group:
            yield from _run(*one, builds)
        return
    first, *middle, last = group
    yield from _run(*first, builds)
    span = f"{builds[middle[0][0].order].label} to {builds[middle[-1][0].order].label}"
    yield indented(
        Text(f"{span}: {plural(len(middle), 'run')} failed in the same way; --all tells each", style="dim"), 4
    )
    yield from _run(*last, builds)


def _between(streaks: Sequence[Streak], did: str, builds: Sequence[Build]) -> str:
    first, last = min(each.first_order for each in streaks), max(each.last_order for each in streaks)
    span = " to ".join(dict.fromkeys((builds[first].label, builds[last].label)))
    return f"{span}: {plural(sum(each.runs for each in streaks), 'run')} {did}"


def _run(run: Run, attempts: Sequence[ToldAttempt], builds: Sequence[Build]) -> Iterator[RenderableType]:
    build = builds[run.order]
    told = Text(f"{build.label}  {build.commit[:COMMIT]}  ")
    told.append(run.verdict.value, style=STYLES.get(run.verdict, "bold"))
    told.append(f"  {run.created_at:%Y-%m-%d %H:%M}", style="dim")
    yield indented(told, 4)
    for job, inside in groupby(attempts, key=attrgetter("job")):
        tried = list(inside)
        yield indented(Text(_job(tried[0]), style="dim"), 6)
        if url := job_url(build, job):
            yield Text(f"      {url}", style="dim", no_wrap=True, overflow="ignore")
        for attempt in tried:
            yield indented(_attempt(attempt), 8)


def _job(attempt: ToldAttempt) -> str:
    who = f" ({attempt.retry_type.value})" if attempt.retry_type else ""
    retry = f"retry {attempt.job_attempt}{who}" if attempt.job_attempt else ""
    lost = "lost: what ran in it does not count" if attempt.died else ""
    return " · ".join(part for part in (attempt.agent or f"job {attempt.job}", retry, lost) if part)


def _attempt(attempt: ToldAttempt) -> Text:
    outcome = Text(attempt.outcome.value, style="bold" if attempt.outcome.bad else "")
    said = [f"by the environment: {attempt.signature}" if attempt.environment else attempt.signature]
    said += [
        shorten(one_line(attempt.message), 160, placeholder=" …"),
        f"[{attempt.fingerprint}]" if attempt.fingerprint else "",
    ]
    told = " · ".join(part for part in said if part)
    return Text.assemble(outcome, f"  {told}" if told else "", overflow="fold")
