"""What a history comes to: segments, breakages, and the verdict on a test."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .evidence import Build


class TestVerdict(StrEnum):
    """What is known of one variant, the first that holds; `reason` beside it says why in a sentence.

    BROKEN: it fails on every attempt now. FLAKY: the same code both failed and passed, or separate builds of a branch
    failed in one and the same way. NEW_FAILURE: the newest run failed, and it is too early to say why. RECOVERED: it
    was broken, and passes again. SUSPECT: builds failed alone, or on a branch that did not pass since; a rare flake and
    what a commit did look the same. HEALTHY: no failure in at least 20 runs. UNKNOWN: too few runs.
    """

    __test__ = False  # pytest would take the name for a test class

    BROKEN = "broken"
    FLAKY = "flaky"
    NEW_FAILURE = "unknown, new failure"
    RECOVERED = "recovered"
    SUSPECT = "unknown, suspect"
    HEALTHY = "healthy"
    UNKNOWN = "unknown"


class Segment(NamedTuple):
    """Builds between two change points, both ends included, in which a variant failed at one rate.

    Orders are those of the builds. `runs` have an own attempt; `first_failed` of them failed first, `retried` of those
    had another attempt, and `failed` failed on every attempt. The segment before it ends, and this one begins, with
    95 % probability between `earliest` and `latest`, both builds included, given the change points on both sides;
    None at the beginning of the history.
    """

    first: int
    last: int
    runs: int
    first_failed: int
    retried: int
    failed: int
    failed_after_retry: int
    breakage: bool
    earliest: int | None = None
    latest: int | None = None


@dataclass(frozen=True, slots=True)
class Breakage:
    """A stretch of builds in which a variant failed whatever was tried: a regression.

    The change that broke it lies after `good`'s commit, up to `first`'s; the one that mended it after `last`'s, up to
    `mended`'s. `good` is None where the history begins broken, `mended` where it ends so. With 95 % probability it
    began between `earliest` and `latest`. `job` is the job of the first failed build in which it failed.
    """

    first: Build
    last: Build
    good: Build | None
    mended: Build | None
    earliest: Build
    latest: Build
    runs: int
    failed: int
    job: str
    fingerprint: str
    signature: str
