"""Evidence into the store: by this process, or by the executors of a Spark cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from flake_report.collect.files import Warn
from flake_report.model.evidence import Job

from .cycles import seldom_searched
from .understand import Told, of_job, read, told, versions_with

if TYPE_CHECKING:
    from flake_report.classify.signatures import SignatureTable
    from flake_report.collect.folder import BuildFrom
    from flake_report.model.record import IngestCounts, JobRecord, Versions
    from flake_report.store import Store
    from flake_report.store.commit import Prepared

    from .partition import Done, Task


def ingest(
    source: str,
    store: str,
    table: SignatureTable,
    warn: Warn,
    seen: Callable[[], None],
    *,
    build_from: BuildFrom | None = None,
    again: bool = True,
    owners: dict[str, str] | None = None,
    engine: str = "duckdb",
) -> IngestCounts:
    """Every job of one source into the store; a job that was there before is replaced. `seen` is called once a job.

    `build_from` is for plain folders: what tells their builds apart. Where `again` is False, jobs that the store has
    from these very readers are passed over: those of an archive are final, as long as nothing more is told of their
    build or of a retry. `owners` says which source a job came from, over several calls: folders of one name hold
    jobs of one name, and the later would replace the earlier without a word. `engine` may be Spark's: its executors
    read the builds of an archive side by side, and all of them are one commit.
    """
    from flake_report.collect.sources import open_source
    from flake_report.store import Store

    found = open_source(source, warn, build_from)
    opened = Store.create_or_open(store)  # where the source is none, none is made
    known: frozenset[Told] = frozenset() if again else _read_before(opened, versions_with(table))
    came_from = {} if owners is None else owners
    if engine != "duckdb":
        from .partition import Task

        parts = _read_on_spark(engine, source, Task(opened.address, table, known, build_from))
        return opened.land(_together(source, parts, warn, seen, came_from))

    def records() -> Iterator[JobRecord]:
        for evidence in found:
            if told(evidence) in known:
                continue
            record = read(evidence, table, texts=False)
            for warning in (*of_job(record), *_taken_place(came_from, source, record.job)):
                warn(warning)
            yield record
            seen()

    with seldom_searched():
        return opened.ingest(records())


def _read_on_spark(engine: str, source: str, task: Task) -> Sequence[Done]:
    """The parts of a source, read by Spark's executors and written into the store, where they count once they land."""
    from flake_report.collect.sources import parts
    from flake_report.store.cluster import on_executors

    from .partition import read_part

    return on_executors(engine, partial(read_part, task), parts(source, task.build_from))


def _together(
    source: str, parts: Sequence[Done], warn: Warn, seen: Callable[[], None], came_from: dict[str, str]
) -> Prepared:
    """All parts as one; what is to be said of them is said."""
    from flake_report.store.commit import together

    for part in parts:
        for warning in part.warnings:
            warn(warning)
        for job in part.jobs:
            for warning in _taken_place(came_from, source, job):
                warn(warning)
            seen()
    return together([prepared for part in parts for prepared in part.prepared])


def _taken_place(came_from: dict[str, str], source: str, job: Job) -> Iterator[str]:
    """The warning that a job replaces one of another source, if it does."""
    if (before := came_from.setdefault(job.id, source)) != source:
        name = job.label or job.id
        yield f"{source}: job {name} has the place of one of {before} and replaces it; rename one of the folders"


def _read_before(store: Store, versions: Versions) -> frozenset[Told]:
    """What these readers have read into the store."""
    same = " AND ".join(f"{name}_version = '{value}'" for name, value in asdict(versions).items())
    builds = store.table("builds").project("org, pipeline, build, state").fetchall()
    states = {tuple(place): state for *place, state in builds}
    jobs = store.table("jobs").filter(same).project("id, mode, org, pipeline, build, retry_of").fetchall()
    return frozenset((job, mode, states.get(tuple(place), ""), retry_of) for job, mode, *place, retry_of in jobs)
