"""The six verbs in order: collect, parse, classify, store, rate, report.

This module joins the stages; `understand` is its middle, the reading of one job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from flake_report.collect.files import Warn, salvaged
from flake_report.errors import FlakeReportError, NothingUsableError
from flake_report.model.evidence import Blob
from flake_report.model.failure import Cause, Explanation
from flake_report.model.joblog import JobLog
from flake_report.model.report import FlakeReport
from flake_report.model.results import ReportSummary
from flake_report.parse.reports import read_report
from flake_report.parse.textual import is_text

from .ingestion import ingest
from .reporting import ownership, show, show_page, site, told, why_page
from .understand import of_job, read, read_log, signature_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from flake_report.classify.signatures import SignatureTable
    from flake_report.collect.collector import Collection
    from flake_report.collect.present import Here
    from flake_report.collect.tally import Progress
    from flake_report.model.known import KnownFailures
    from flake_report.model.memory import Tuning
    from flake_report.model.memory_event import MemoryArchive
    from flake_report.model.quarantine import Decided, Quarantine
    from flake_report.model.query import Query
    from flake_report.model.rate import Run
    from flake_report.model.triage import Triage
    from flake_report.store import Store

HEAD = 1 << 14
"""Bytes from which it is told whether a log is text."""

__all__ = [
    "collect",
    "compared_with",
    "explain",
    "ingest",
    "job_logs",
    "known_failures",
    "memory_archive",
    "open_store",
    "ownership",
    "parse",
    "read",
    "recalled",
    "show",
    "show_page",
    "signature_table",
    "site",
    "told",
    "triage",
    "upgrade_store",
    "why_page",
]


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
        unexplained=_unexplained(log, found),
        cut_sessions=sum(not session.ended for session in log.sessions),
        warnings=(*damage, *(str(warning) for warning in log.warnings)),
    )


def memory_archive(store: str) -> MemoryArchive:
    """Every GPU-memory event of a store, to explain new ones by."""
    from flake_report.model.query import Query
    from flake_report.store import Store
    from flake_report.store.memory import memory_events

    return memory_events(Store.open(store), Query())


def recalled(one: Explanation, archive: MemoryArchive) -> Explanation:
    """The explanation with what history adds to its GPU-memory events: seen before, a neighbour, a late release."""
    from flake_report.rate.memory_history import with_past

    return replace(one, causes=tuple(with_past(cause, archive) for cause in one.causes))


def _unexplained(log: JobLog, found: tuple[Cause, ...]) -> tuple[str, ...]:
    named = {cause.test for cause in found}
    return tuple(dict.fromkeys(test for one in log.sessions for test in one.failures if test not in named))


def parse(blob: Blob, warn: Warn) -> ReportSummary:
    """What one result file holds, counted."""
    return read_report(blob.name, salvaged(blob, warn), None)


def compared_with(report: FlakeReport, baseline: str) -> FlakeReport:
    """The report with its newest week compared with an earlier export, too; see `collect.baseline` for where that lies.

    What it hands on to the next export holds the weeks, and the known failures, of both.
    """
    from flake_report.collect.baseline import exported
    from flake_report.parse.baseline import read_week_table, read_week_totals
    from flake_report.rate.baseline import carried, joined, joined_totals
    from flake_report.rate.comparisons import compared

    name, data = exported(baseline, "report.json")
    counts = joined(report.counts, read_week_table(data, name))
    before = tuple(carried(report, known_failures(baseline)))
    weeks = joined_totals(report.weeks, read_week_totals(data))
    return replace(report, counts=counts, comparisons=compared(counts), carried=before, weeks=weeks)


def known_failures(known: FlakeReport | str) -> KnownFailures:
    """What is known of failures: by a report, or by an earlier export, whose address is given."""
    from flake_report.collect.baseline import exported
    from flake_report.parse.flakes import read_flakes
    from flake_report.report.flakes import flakes_json

    name, data = exported(known, "flakes.json") if isinstance(known, str) else ("", flakes_json(known, limit=None))
    return read_flakes(data, name)


def triage(
    paths: Sequence[str],
    here: Here,
    table: SignatureTable,
    warn: Warn,
    *,
    known: KnownFailures | None,
    archive: MemoryArchive | None = None,
) -> Triage:
    """What failed in the build that runs now; `archive` is what a store knows of its GPU-memory failures."""
    from flake_report.collect.present import present
    from flake_report.rate.triage import triage as sort

    records = [read(evidence, table) for evidence in present(paths, here, warn)]
    for record in records:
        for warning in of_job(record):
            warn(warning)
    if archive is not None:
        from flake_report.rate.memory_history import with_past

        records = [replace(one, causes=tuple(with_past(cause, archive) for cause in one.causes)) for one in records]
    return sort(records, known, {row.name: row for row in table.rows})


def quarantine(
    store: str,
    query: Query,
    report: FlakeReport,
    old: tuple[str, bytes] | None,
    *,
    today: date,
    days: int,
    renew: bool,
) -> tuple[Quarantine, tuple[Decided, ...]]:
    """The quarantine list made anew from a report on the same part of the store; `old` is its file's name and bytes."""
    from flake_report.model.quarantine import Quarantine
    from flake_report.parse.quarantine import read_quarantine
    from flake_report.rate.quarantine import Terms, update
    from flake_report.report.links import job_url
    from flake_report.store import Store

    def link(run: Run) -> str:
        build = report.builds[run.order]
        return job_url(build, run.job) or f"build {build.key}"

    known = read_quarantine(old[1], old[0]) if old else Quarantine()
    terms = Terms(today=today, days=days, owners=report.owners, link=link, renew=renew)
    return update(known, Store.open(store).histories(query), report.tests, terms)


def tune(store: str, query: Query, *, budget: float, tried: Sequence[float] = ()) -> tuple[Tuning, ...]:
    """What memory settings did to each test, and which one fits; `tried` are settings to tell of beside those seen."""
    from flake_report.rate.tuning import tunings
    from flake_report.store import Store
    from flake_report.store import tuning as engines

    opened = Store.open(store)
    return tunings(engines.starts(opened, query), budget=budget, held=engines.held(opened, query), tried=tried)


def open_store(store: str) -> Store:
    """A store for its upkeep. Raises `FlakeReportError` where there is none."""
    from flake_report.store import Store

    return Store.open(store)


def upgrade_store(store: str) -> tuple[str, ...]:
    """The steps that made an older store one of today's."""
    from flake_report.store import Store

    return Store.upgrade(store)
