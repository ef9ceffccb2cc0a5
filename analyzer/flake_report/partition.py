"""A part of a source, read to its end and written into a store, where it counts once somebody commits it.

This is what Spark's executors run: it opens what it needs by name, and needs nothing of the process that sent it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from flake_report.collect.folder import BuildFrom
from flake_report.collect.sources import open_source
from flake_report.model.evidence import Job
from flake_report.model.record import JobRecord
from flake_report.store.commit import Prepared, in_batches, prepare
from flake_report.store.root import located

from .classify.signatures import SignatureTable
from .cycles import seldom_searched
from .understand import Told, of_job, read, told


@dataclass(frozen=True, slots=True)
class Task:
    """How sources are read and where they go; jobs that are `known` are passed over."""

    store: str
    table: SignatureTable
    known: frozenset[Told]
    build_from: BuildFrom | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a part: files and rows that wait for their commit, the jobs in them, and what is to be said."""

    prepared: tuple[Prepared, ...]
    jobs: tuple[Job, ...]
    warnings: tuple[str, ...]


def read_part(task: Task, sources: Iterable[str]) -> Done:
    """Read these sources and write their large files. Raises `FlakeReportError` as their reading and writing do."""
    jobs: list[Job] = []
    warnings: list[str] = []

    def records() -> Iterator[JobRecord]:
        for source in sources:
            for evidence in open_source(source, warnings.append, task.build_from):
                if told(evidence) not in task.known:
                    record = read(evidence, task.table, texts=False)
                    warnings.extend(of_job(record))
                    jobs.append(replace(record.job, command=""))
                    yield record

    root = located(task.store)
    with seldom_searched():
        prepared = tuple(prepare(root, batch) for batch in in_batches(records()))
    return Done(prepared, tuple(jobs), tuple(warnings))
