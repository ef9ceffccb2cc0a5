"""What the store keeps of one job: the contract between reading and counting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .evidence import Build, Job, LogMode
from .failure import Cause
from .results import Attempt, Holder


@dataclass(frozen=True, slots=True)
class Versions:
    """What the derived columns of a job were made with, so that history can be labelled anew."""

    parser: str
    signatures: str
    fingerprint: str
    diagnosis: str = ""


class ClassifiedAttempt(NamedTuple):
    """An attempt, and the signature that its failure matched; empty where none did or nothing failed."""

    attempt: Attempt
    signature: str = ""
    blame: str = ""


class SampleMoment(StrEnum):
    """When in its job a memory sample was taken."""

    JOB_START = "job start"
    BEFORE = "before"
    AFTER = "after"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class MemorySample:
    """Memory of one device at one moment, in bytes. `test` is a node id, empty outside tests.

    `device` is `cuda:0` as the process counts what it sees, torch on ROCm included; `0`, or `0/1/0` for a MIG slice, as
    nvidia-smi counts the machine's; empty where it is not known. The two counts may differ: neither is taken for the
    other. `line` is that of the log, from 1; None where the sample is the recorder's, whose sizes are exact.
    """

    at: datetime | None
    device: str
    when: SampleMoment
    free: int | None = None
    total: int | None = None
    used: int | None = None
    torch_reserved: int | None = None
    holders: tuple[Holder, ...] = ()
    test: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Leak:
    """What the recorder says at a session's end: a test that left GPU memory, how many bytes, and in what.

    `size` was printed rounded; `held` is text for people, empty where nothing in Python was found to hold it.
    """

    line: int
    session: str
    test: str
    size: int
    held: str = ""


@dataclass(frozen=True, slots=True)
class EngineStart:
    """One start of a vLLM engine, failed or not; sizes in bytes, None where the log does not say.

    `line` is its first line in the log, from 1. `process` is the engine's own, such as `EngineCore pid=1306`; empty
    where the engine runs in the process that asked for it.
    """

    at: datetime | None
    session: str
    test: str
    device: str
    utilization: float | None
    requested: int | None = None
    free: int | None = None
    total: int | None = None
    weight: int | None = None
    activation: int | None = None
    non_torch: int | None = None
    kv: int | None = None
    outcome: str = ""
    line: int = 0
    process: str = ""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """Everything of one job that is stored, in one commit."""

    build: Build
    job: Job
    attempts: tuple[ClassifiedAttempt, ...]
    causes: tuple[Cause, ...]
    memory: tuple[MemorySample, ...]
    engines: tuple[EngineStart, ...]
    sources: tuple[str, ...]
    warnings: tuple[str, ...]
    mode: LogMode
    versions: Versions


@dataclass(frozen=True, slots=True)
class IngestCounts:
    """What one ingest brought into the store: rows of each kind; of a build given several times, one."""

    builds: int = 0
    jobs: int = 0
    attempts: int = 0
    matches: int = 0
    memory: int = 0
    engines: int = 0
