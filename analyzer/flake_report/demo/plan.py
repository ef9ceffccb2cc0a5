"""The story laid out on the calendar: which builds there are, which jobs they have, what each job will meet."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from .story import Event, Failure, Setting, Step, Story

_FRIDAY = 4
_MAIN_UNTIL = 2  # Monday to Wednesday afternoons build main, the two days after that build pull requests


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """One job to be: `failures` says how a test of that function name will fail."""

    id: str
    step: Step
    attempt: int
    retry_of: str | None
    agent: str
    failures: Mapping[str, Failure] = field(default_factory=dict)
    lost: bool = False

    @property
    def exit_status(self) -> int:
        """How the job will end; -1 is Buildkite's word for an agent that was lost."""
        return -1 if self.lost else int(bool(self.failures))


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """One build to be; a retried job stands before the job that retries it."""

    number: int
    branch: str
    source: str
    commit: str
    created_at: datetime
    setting: Setting
    jobs: tuple[PlannedJob, ...]


def plan(story: Story) -> Iterator[PlannedBuild]:
    """Every build, oldest first."""
    number = story.history.first_build
    for ahead in range(story.history.days):
        day = story.history.first_day + timedelta(days=ahead)
        yield _build(story, number, day, "nightly")
        number += 1
        if day.weekday() <= _FRIDAY:
            yield _build(story, number, day, "afternoon")
            number += 1


def share(*parts: object) -> float:
    """A number in [0, 1) that is always the same for the same parts: variety without chance."""
    return int.from_bytes(_digest(*parts)[:6]) / (1 << 48)


def made_up_id(*parts: object) -> str:
    """A UUID that is always the same for the same parts."""
    return str(UUID(bytes=_digest(*parts)[:16], version=4))


def _digest(*parts: object) -> bytes:
    return hashlib.sha256("/".join(map(str, parts)).encode()).digest()


def _build(story: Story, number: int, day: date, kind: str) -> PlannedBuild:
    history = story.history
    at = history.nightly if kind == "nightly" else history.afternoon
    created_at = datetime.combine(day, at, UTC) + timedelta(seconds=int(600 * share(number, "created")))
    main = kind == "nightly" or day.weekday() <= _MAIN_UNTIL
    events = [event for event in story.events if f"{day} {kind}" in event.builds]
    steps = [step for step in story.steps if kind in step.builds]
    return PlannedBuild(
        number=number,
        branch="main" if main else history.pull_requests[number % len(history.pull_requests)],
        source="schedule" if kind == "nightly" else "webhook",
        commit=hashlib.sha1(f"{number}".encode(), usedforsecurity=False).hexdigest(),
        created_at=created_at,
        setting=story.setting(day),
        jobs=tuple(job for step in steps for job in _jobs(story, number, step, events)),
    )


def _jobs(story: Story, number: int, step: Step, events: list[Event]) -> Iterator[PlannedJob]:
    """The step's job, and the one that retries it where its policy says so."""
    here = [event for event in events if event.step == step.name]
    earlier: PlannedJob | None = None
    for attempt in range(2):
        if earlier and earlier.exit_status not in step.retry_exit:
            return
        hit = [event for event in here if event.attempts > attempt]
        earlier = PlannedJob(
            id=made_up_id(number, step.name, attempt),
            step=step,
            attempt=attempt,
            retry_of=earlier.id if earlier else None,
            agent=step.agents[int(len(step.agents) * share(number, step.name, attempt))],
            failures={event.test: story.failures[event.failure] for event in hit if event.test},
            lost=any(not event.test for event in hit),
        )
        yield earlier
