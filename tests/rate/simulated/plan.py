"""What is drawn, and how often: the ingredients of a simulated history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

FIRST_DAY = datetime(2026, 3, 30, tzinfo=UTC)
"""A Monday."""

BUILD_EVERY = timedelta(hours=5)


@dataclass(frozen=True)
class Policy:
    """What a step does after a failure: `automatic` jobs run again when a test failed, others when the job was lost.

    `manual` is how often a person runs a failed job again where nothing else does.
    """

    name: str
    automatic: bool
    manual: float


POLICIES = (Policy("nvidia", automatic=False, manual=0.04), Policy("amd", automatic=True, manual=0.0))


@dataclass(frozen=True)
class Plan:
    """The size of a history and the shares of each ingredient; shares of tests, of jobs, or of runs as named.

    `tests` is per step. A flake's rate is drawn from `rates` evenly on a log scale, the chance that its retry fails
    from `again`. `bad_commits` break up to `breaks` tests each for up to `longest` builds, and `relanded` of them come
    back once and say the same: half of these within one build each time. `worded` is how often a bad
    commit on a flaky test fails in the words of its flake.
    """

    builds: int = 240
    steps: int = 2
    tests: int = 90
    agents: int = 6
    rates: tuple[float, float] = (0.001, 0.3)
    again: tuple[float, float] = (0.2, 0.95)
    flaky: float = 0.25
    order_dependent: float = 0.04
    passing_flakes: float = 0.25  # flakes that begin or end within the history
    drift: float = 0.5  # spread of a flake's rate from week to week, on a log scale
    messages: tuple[float, ...] = (0.5, 0.3, 0.2)  # how often a flake fails with each of its messages
    reruns: float = 0.05  # tests that their session runs again
    bad_commits: int = 26
    breaks: int = 25
    longest: int = 200
    relanded: float = 0.08
    worded: float = 0.3
    bad_agents: int = 2  # bad spells of an agent, in each step
    recognised: float = 0.6  # bad spells whose failures a signature knows
    exposed: float = 0.05  # tests that a bad spell hits which none knows
    lost: float = 0.02  # jobs
    skipped: float = 0.01  # runs
    no_results: float = 0.02  # jobs
    wordless: float = 0.05  # failures of which no fingerprint is left
