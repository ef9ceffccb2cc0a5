"""The settings of `flake-report.toml`; each has a default, so that no file is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from .evidence import LogMode


@dataclass(frozen=True, slots=True)
class CollectConfig:
    """`[collect]`: what is brought from Buildkite, and where to.

    `artifacts` are patterns for paths (`**` goes over folders). `since` counts back from now. `budget` is the share
    of each rate limit that may be used up. The token's two places never hold the token itself.
    """

    archive: str = "flake-report-archive"
    logs: LogMode = LogMode.ALL
    artifacts: tuple[str, ...] = ("**/*junit*.xml", "**/test-results/**/*.xml", "**/*attempts*.jsonl")
    branch: str | None = None
    since: timedelta = timedelta(days=14)
    budget: float = 0.8


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """`[store]`: where the store is."""

    path: str = "flake-report-store"


@dataclass(frozen=True, slots=True)
class RatesConfig:
    """`[rates]`: the part of the history that is counted where no option names one; None does not limit.

    `budget` is the first-attempt failure rate that a test may have.
    """

    branch: str | None = None
    since: timedelta | None = None
    budget: float = 0.005


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """`[queues.NAME]`: what an agent of this queue has and costs; no price where None.

    `price_per_hour` is for an agent with all its GPUs, in whatever currency. `gpu_type` is the kind of GPU, empty
    when unknown.
    """

    gpus: int = 1
    price_per_hour: float | None = None
    gpu_type: str = ""


@dataclass(frozen=True, slots=True)
class OwnersConfig:
    """`[owners]`: patterns for tests with their owner, in the order of the file; the last that matches decides.

    `codeowners` is the CODEOWNERS file for all other tests; None looks in the places where GitHub does.
    """

    tests: Mapping[str, str] = field(default_factory=dict)
    codeowners: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, validated; `queues` by name."""

    collect: CollectConfig = field(default_factory=CollectConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    rates: RatesConfig = field(default_factory=RatesConfig)
    queues: Mapping[str, QueueConfig] = field(default_factory=dict)
    owners: OwnersConfig = field(default_factory=OwnersConfig)
