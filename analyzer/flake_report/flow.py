"""The six verbs in order: collect, parse, classify, store, rate, report.

This module joins the stages; `understand` is its middle, the reading of one job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from flake_report.collect.files import Warn, salvaged
from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.evidence import Blob
from flake_report.model.failure import Explanation
from flake_report.model.report import FlakeReport
from flake_report.model.results import ReportSummary
from flake_report.parse.reports import read_report
from flake_report.parse.textual import is_text

from .understand import read, read_log, signature_table, versions_with

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flake_report.classify.signatures import SignatureTable
    from flake_report.collect.collector import Collection
    from flake_report.collect.folder import BuildFrom
    from flake_report.collect.tally import Progress
    from flake_report.model.query import Query
    from flake_report.model.record import IngestCounts, JobRecord, Versions
    from flake_report.store import Store

HEAD = 1 << 14
"""Bytes from which it is told whether a log is text."""

__all__ = ["collect", "explain", "ingest", "job_logs", "parse", "read", "show", "signature_table"]


def collect(
    what: Collection,
    archive: str,
    env: Mapping[str, str],
    *,
    warn: Warn,
    told: Callable[[Progress], None],
) -> Progress:
    """What is new of one pipeline into the archive, a folder or a URL; see `collect.collector`."""
    from flake_report.collect import collector
    from flake_report.collect.servers import Servers
    from flake_report.collect.storage import open_storage
    from flake_report.collect.token import WHERE_FROM, find_token

    token = find_token(env)
    if token is None:
        raise FlakeReportError(f"{what.pipeline}: a pipeline is collected with an API token; give one: {WHERE_FROM}")
    around = collector.Surroundings(token, Servers.from_env(env))
    return collector.collect(what, open_storage(archive), around, warn=warn, told=told)


def job_logs(url: str, env: Mapping[str, str], warn: Warn) -> Iterator[Blob]:
    """The logs of the job, the step or the failed jobs that a Buildkite URL names, each fetched when it is read."""
    from flake_report.collect import joblogs
    from flake_report.collect.token import find_token

    token = find_token(env)
    return joblogs.job_logs(url, env=env, token=token, warn=warn)


def explain(blob: Blob, table: SignatureTable) -> Explanation:
    """What one job log says of its job. Raises `NothingUsableError` for a log that is empty or no text."""
    damage: list[str] = []
    head = bytearray()

    def read() -> Iterator[bytes]:
        for chunk in blob.read():  # a log from the web comes once: its head is kept in passing
            head.extend(chunk[: HEAD - len(head)])
            yield chunk

    log, found = read_log(Blob(blob.name, read), table, damage.append)
    if not head:
        raise NothingUsableError(f"{blob.name}: is empty; give the whole log of the job")
    if not is_text(bytes(head)):
        raise NothingUsableError(f"{blob.name}: is no text; give the log of a job, as Buildkite lets you download it")
    return Explanation(
        log=blob.name,
        exit_status=log.exit_status,
        sessions=len(log.sessions),
        passed=sum(session.passed for session in log.sessions),
        failed=sum(session.failed + session.errors for session in log.sessions),
        causes=found,
        warnings=(*damage, *(str(warning) for warning in log.warnings)),
    )


def parse(blob: Blob, warn: Warn) -> ReportSummary:
    """What one result file holds, counted."""
    return read_report(blob.name, salvaged(blob, warn), None)


def ingest(
    source: str,
    store: str,
    table: SignatureTable,
    warn: Warn,
    seen: Callable[[], None],
    *,
    build_from: BuildFrom | None = None,
    again: bool = True,
) -> IngestCounts:
    """Every job of one source into the store; a job that was there before is replaced. `seen` is called once a job.

    `build_from` is for plain folders: what tells their builds apart. Where `again` is False, jobs that the store has
    from these very readers are passed over: those of an archive do not change.
    """
    from flake_report.collect.sources import open_source
    from flake_report.store import Store

    opened = Store.create_or_open(store)
    known: frozenset[tuple[str, str]] = frozenset() if again else _read_before(opened, versions_with(table))

    def records() -> Iterator[JobRecord]:
        for evidence in open_source(source, warn, build_from):
            if (evidence.job.id, evidence.mode) in known:
                continue
            record = read(evidence, table)
            for warning in record.warnings:
                warn(f"build {evidence.build.key}, job {evidence.job.id}: {warning}")
            yield record
            seen()

    return opened.ingest(records())


def _read_before(store: Store, versions: Versions) -> frozenset[tuple[str, str]]:
    """Id and mode of each job that these readers have read into the store."""
    same = " AND ".join(f"{name}_version = '{value}'" for name, value in asdict(versions).items())
    return frozenset(store.table("jobs").filter(same).project("id, mode").fetchall())


def show(store: str, query: Query) -> FlakeReport:
    """The state of the part of a history that the query names."""
    from flake_report.rate.rates import flake_rates
    from flake_report.store import Store

    opened = Store.open(store)
    return FlakeReport(opened.window(query), flake_rates(opened.histories(query)), opened.health(query))
