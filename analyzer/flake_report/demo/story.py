"""The story in `story.toml`, typed: where tests run, what runs there, and what goes wrong when."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from importlib.resources import files
from string import Template
from typing import Any


@dataclass(frozen=True, slots=True)
class History:
    """The calendar: a build every night, and one each weekday afternoon."""

    org: str
    pipeline: str
    first_build: int
    first_day: date
    days: int
    nightly: time
    afternoon: time
    pull_requests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the pipeline; `retry_exit` are the exit statuses after which the job runs once more."""

    key: str
    label: str
    queue: str
    device: str
    total_gib: float
    builds: tuple[str, ...]
    retry_exit: tuple[int, ...]
    pytest_addopts: str
    agents: tuple[str, ...]
    sessions: tuple[str, ...]

    @property
    def name(self) -> str:
        """What events call this step."""
        return self.key or self.label


@dataclass(frozen=True, slots=True)
class Session:
    """One pytest command of a job."""

    command: str
    report: str
    shows_output: bool


@dataclass(frozen=True, slots=True)
class Engine:
    """The vLLM engine that a test starts; its utilization is None where the setting of the day rules."""

    model: str
    in_process: bool
    weight_gib: float
    utilization: float | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """One test, and how long it takes."""

    __test__ = False  # pytest would take the name for a test class

    session: str
    nodeid: str
    seconds: float
    engine: Engine | None = None
    skip: str = ""

    @property
    def function(self) -> str:
        """The name without file and parameters, as events use it."""
        return self.nodeid.rpartition("::")[2].partition("[")[0]


@dataclass(frozen=True, slots=True)
class Setting:
    """What the HMA test's engine asks for from a day on, and pytest's extra options on that step."""

    since: date
    utilization: float
    pytest_addopts: str


@dataclass(frozen=True, slots=True)
class Failure:
    """How a test fails: the exception's line, the template of the traceback.

    `free_gib` is what was free where too little of it kept the engine from starting, else None.
    """

    message: str
    text: str
    free_gib: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What goes wrong in one step of some builds, in so many attempts; without a test, the agent is lost."""

    builds: tuple[str, ...]
    step: str
    test: str = ""
    failure: str = ""
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Story:
    """The whole of `story.toml`."""

    history: History
    steps: tuple[Step, ...]
    sessions: Mapping[str, Session]
    tests: tuple[Test, ...]
    settings: tuple[Setting, ...]
    failures: Mapping[str, Failure]
    events: tuple[Event, ...]

    def setting(self, day: date) -> Setting:
        """The setting that ruled on a day."""
        return max((one for one in self.settings if one.since <= day), key=lambda one: one.since)


def read_story() -> Story:
    """The packaged story."""
    told = tomllib.loads(_packaged("story.toml"))
    return Story(
        history=History(**_frozen(told["history"])),
        steps=tuple(Step(**_frozen(row)) for row in told["step"]),
        sessions={name: Session(**row) for name, row in told["session"].items()},
        tests=tuple(_test(row) for row in told["test"]),
        settings=tuple(Setting(**row) for row in told["setting"]),
        failures={name: Failure(**row) for name, row in told["failure"].items()},
        events=tuple(_event(row) for row in told["event"]),
    )


def template(name: str) -> Template:
    """One of the packaged log texts."""
    return Template(_packaged(f"templates/{name}"))


def _packaged(name: str) -> str:
    return files("flake_report.demo").joinpath(name).read_text(encoding="utf-8")


def _frozen(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


def _test(row: Mapping[str, Any]) -> Test:
    engine = row.get("engine")
    return Test(**{**row, "engine": Engine(**engine) if engine else None})


def _event(row: Mapping[str, Any]) -> Event:
    rest = {key: value for key, value in row.items() if key != "build"}
    builds = row["build"]
    return Event(builds=tuple(builds) if isinstance(builds, list) else (builds,), **rest)
