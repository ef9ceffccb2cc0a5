"""What a test's own view draws: its runs, segments, weeks and failures, small enough to travel with the page."""

from __future__ import annotations

import hashlib
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from textwrap import shorten

from flake_report.model.evidence import Build
from flake_report.model.rate import Run, RunVerdict, Streak, Variant
from flake_report.model.results import Outcome
from flake_report.model.story import Story, ToldAttempt
from flake_report.report.links import build_url, job_url
from flake_report.report.runs import COMMIT
from flake_report.report.story import numbers, segment_line
from flake_report.report.words import one_line

from .plain import plain

RUNS = 60
"""Runs of one test that are told one by one, the newest of them; what was before is counted."""

MESSAGE = 160
"""Characters of a message in a list of runs."""

OUTCOMES, VERDICTS = tuple(Outcome), tuple(RunVerdict)


def key(variant: Variant) -> str:
    """A short name for addresses, the same in every report."""
    parts = (
        variant.test.classname,
        variant.test.name,
        variant.test.apart,
        variant.step,
        variant.queue,
        variant.session,
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(slots=True)
class Texts:
    """Texts by number, each once: agents, signatures and messages repeat from run to run."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """The text's place in the list."""
        return self.numbers.setdefault(plain(one_line(text)), len(self.numbers))


@dataclass(slots=True)
class Details:
    """The own views of some tests, and what they share. Builds are told once, by the place that points to them."""

    builds: Sequence[Build]
    budget: float
    texts: Texts = field(default_factory=Texts)
    used: set[int] = field(default_factory=set)
    tests: dict[str, object] = field(default_factory=dict)

    def add(self, story: Story) -> None:
        """One more test."""
        rate = story.rate
        told = story.history.runs[-RUNS:]
        since = told[0].order if len(told) < len(story.history.runs) else -1
        attempts = {order: list(tried) for order, tried in groupby(story.attempts, key=attrgetter("order"))}
        orders = [run.order for run in told]
        cells: list[list[object]] = [self._run(run, attempts.get(run.order, [])) for run in told]
        cells += self._plain(0, story.history.passes, since, orders) + self._plain(
            1, story.history.skips, since, orders
        )
        self.tests[key(rate.variant)] = {
            "about": list(numbers(rate, self.budget)),
            "cells": sorted(cells, key=lambda cell: (cell[1], cell[0])),
            "before": len(story.history.runs) - len(told),
            "segments": [
                [one.first, one.last, int(one.breakage), one.first_failed, one.runs, one.earliest, one.latest,
                 plain(segment_line(one, self.builds))]
                for one in rate.segments
            ],
            "weeks": [
                [week.week, week.runs, week.first_failures, week.victims, band.rate, band.low, band.high]
                for week, band in zip(rate.trend, story.weeks, strict=True)
            ],
            **self._failures(story.attempts),
        }  # fmt: skip
        for one in rate.segments:
            self.used |= {at for at in (one.first, one.last, one.earliest, one.latest) if at is not None}

    def weight(self, test: str) -> int:
        """About how many bytes one test takes, with what it shares."""
        return len(repr(self.tests[test]))

    def payload(self) -> dict[str, object]:
        """All of it, as JSON has it."""
        return {
            "texts": list(self.texts.numbers),
            "outcomes": [one.value for one in OUTCOMES],
            "verdicts": [one.value for one in VERDICTS],
            "builds": {
                str(at): [
                    plain(build.label), plain(build.commit[:COMMIT]), f"{build.created_at:%Y-%m-%d %H:%M}",
                    build_url(build) or "",
                ]
                for at, build in ((at, self.builds[at]) for at in sorted(self.used))
            },
            "tests": self.tests,
        }  # fmt: skip

    def _plain(self, kind: int, streaks: Sequence[Streak], since: int, orders: Sequence[int]) -> list[list[object]]:
        """Plain runs between two told ones, counted together; those before `since` are left out."""
        between: dict[int, list[Streak]] = {}
        for streak in streaks:
            if streak.first_order >= since:
                between.setdefault(bisect(orders, streak.first_order), []).append(streak)
        cells: list[list[object]] = []
        for alike in between.values():
            first, last = min(one.first_order for one in alike), max(one.last_order for one in alike)
            self.used |= {first, last}
            cells.append([kind, first, last, sum(one.runs for one in alike)])
        return cells

    def _run(self, run: Run, attempts: Sequence[ToldAttempt]) -> list[object]:
        self.used.add(run.order)
        return [2, run.order, VERDICTS.index(run.verdict), [self._attempt(one) for one in attempts]]

    def _attempt(self, one: ToldAttempt) -> list[object]:
        """Outcome, whether the environment failed it, whether its job was lost, then texts by number."""
        retry = f"retry {one.job_attempt}" if one.job_attempt else ""
        if one.job_attempt and one.retry_type:
            retry += f" ({one.retry_type.value})"
        told = (
            one.agent, retry, one.signature, one.fingerprint,
            shorten(one_line(one.message[: MESSAGE * 4]), MESSAGE, placeholder=" …"),
            one.job if job_url(self.builds[one.order], one.job) else "",
        )  # fmt: skip
        texts = [self.texts.number(text) for text in told]
        return [OUTCOMES.index(one.outcome), int(one.environment), int(one.died), *texts]

    def _failures(self, attempts: Sequence[ToldAttempt]) -> dict[str, object]:
        """Failed attempts by fingerprint and by agent, most first."""
        bad = [one for one in attempts if one.outcome.bad]
        prints = Counter((one.fingerprint, one.signature) for one in bad)
        title = {(one.fingerprint, one.signature): one.message[: MESSAGE * 4] for one in bad}
        agents = Counter(one.agent for one in bad)
        return {
            "prints": [
                [self.texts.number(fingerprint), self.texts.number(signature), count,
                 self.texts.number(shorten(one_line(title[fingerprint, signature]), MESSAGE, placeholder=" …"))]
                for (fingerprint, signature), count in prints.most_common(8)
            ],
            "agents": [[self.texts.number(agent), count] for agent, count in agents.most_common(8)],
        }  # fmt: skip
