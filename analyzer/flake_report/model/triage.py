"""What failed in one build, sorted by what is to be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .evidence import Build, Job
from .failure import Blame, Cause
from .known import KnownFailures
from .rate import Variant


class FailureKind(StrEnum):
    """What a failure of a build is, the most urgent first.

    NEW: nobody saw this test fail in this way. REGRESSION: it is broken, for some builds already. UNCLEAR: nothing
    tells, for want of history or of a message. FLAKE: known to flake, and in this way. The others are the
    environment's, by what the failure itself says.
    """

    NEW = "new"
    REGRESSION = "regression"
    UNCLEAR = "unclear"
    GPU_MEMORY = Blame.GPU_MEMORY.value
    GPU = Blame.GPU.value
    INFRA = Blame.INFRA.value
    DEPENDENCY = Blame.DEPENDENCY.value
    AGENT = Blame.AGENT.value
    FLAKE = "flake"

    @property
    def environment(self) -> bool:
        """Whether the test is a victim."""
        return self in _ENVIRONMENT


_ENVIRONMENT = frozenset(FailureKind(blame.value) for blame in Blame if blame.environment)


@dataclass(frozen=True, slots=True)
class BuildFailure:
    """One test that failed in the end, or a job that failed outside its tests: then there is no `variant`.

    `why` says in a sentence why it is of its kind, `advice` what to do; both empty where there is nothing to say.
    `message` is what the failure says, `cause` what the log knows of it, `seen` the address where it was met last.
    """

    kind: FailureKind
    variant: Variant | None
    job: Job
    message: str
    why: str
    advice: str = ""
    signature: str = ""
    cause: Cause | None = None
    seen: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Recovered:
    """A test that failed and passed in this build; `flake`: it is known to flake so. `job` is where it failed."""

    variant: Variant
    job: Job
    message: str
    flake: bool


@dataclass(frozen=True, slots=True)
class Triage:
    """One build: its failures in order of their kinds, and the tests that passed when they were tried again.

    `known` is what they were compared with; None where there was nothing.
    """

    build: Build | None
    jobs: int
    tests: int
    failures: tuple[BuildFailure, ...]
    recovered: tuple[Recovered, ...] = ()
    known: KnownFailures | None = None
