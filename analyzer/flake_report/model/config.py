"""The settings of `flake-report.toml`; each has a default, so that no file is needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class CollectConfig:
    """`[collect]`: where the API token is, if BUILDKITE_API_TOKEN does not hold it; never the token itself."""

    token_file: str | None = None
    token_command: str | None = None


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """`[store]`: where the store is."""

    path: str = "flake-report-store"


@dataclass(frozen=True, slots=True)
class RatesConfig:
    """`[rates]`: the part of the history that is counted where no option names one; None does not limit."""

    branch: str | None = None
    since: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, validated."""

    collect: CollectConfig = field(default_factory=CollectConfig)
    store: StoreConfig = field(default_factory=StoreConfig)
    rates: RatesConfig = field(default_factory=RatesConfig)
