"""The six verbs in order: collect, parse, classify, store, rate, report. This module alone joins the stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from importlib.resources import files
from typing import TYPE_CHECKING

from flake_report.classify import fingerprint as prints
from flake_report.classify.kvcache import CONSEQUENCES
from flake_report.classify.scan import Scan, match_text
from flake_report.classify.signatures import SignatureTable, parse_table
from flake_report.classify.verdict import causes
from flake_report.collect.files import Warn, salvaged
from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob, Evidence
from flake_report.model.failure import Cause, Explanation, Match
from flake_report.model.joblog import JobLog
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.report import FlakeReport
from flake_report.model.results import Attempt, ReportSummary
from flake_report.parse import VERSION as PARSER_VERSION
from flake_report.parse.joblog import Outline, blocks, clean
from flake_report.parse.precedence import best_source, in_session, session_of_report
from flake_report.parse.reports import read_report
from flake_report.parse.testid import from_nodeid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flake_report.collect.collector import Collection
    from flake_report.collect.folder import BuildFrom
    from flake_report.collect.tally import Progress
    from flake_report.model.config import CollectConfig
    from flake_report.model.query import Query
    from flake_report.model.record import IngestCounts
    from flake_report.store import Store


def signature_table(*user_files: tuple[str, str]) -> SignatureTable:
    """The packaged table, after the rows of `(name, text)` files that a user gave."""
    packaged = files("flake_report.classify").joinpath("signatures.toml").read_text(encoding="utf-8")
    table = parse_table(packaged, "signatures.toml")
    for name, text in user_files:
        table = table.extended(parse_table(text, name))
    return table


def collect(
    what: Collection,
    archive: str,
    env: Mapping[str, str],
    settings: CollectConfig,
    *,
    warn: Warn,
    told: Callable[[Progress], None],
) -> Progress:
    """What is new of one pipeline into the archive, a folder or a URL; see `collect.collector`."""
    from flake_report.collect import collector
    from flake_report.collect.servers import Servers
    from flake_report.collect.storage import open_storage
    from flake_report.collect.token import WHERE_FROM, find_token

    token = find_token(env, settings.token_file, settings.token_command)
    if token is None:
        raise FlakeReportError(f"{what.pipeline}: a pipeline is collected with an API token; give one: {WHERE_FROM}")
    around = collector.Surroundings(token, Servers.from_env(env))
    return collector.collect(what, open_storage(archive), around, warn=warn, told=told)


def job_logs(url: str, env: Mapping[str, str], settings: CollectConfig, warn: Warn) -> Iterator[Blob]:
    """The logs of the job, the step or the failed jobs that a Buildkite URL names, each fetched when it is read."""
    from flake_report.collect import joblogs
    from flake_report.collect.token import find_token

    token = find_token(env, settings.token_file, settings.token_command)
    return joblogs.job_logs(url, env=env, token=token, warn=warn)


def explain(blob: Blob, table: SignatureTable) -> Explanation:
    """What one job log says of its job."""
    damage: list[str] = []
    log, found = read_log(blob, table, damage.append)
    if not log.lines:
        damage.append("is empty")
    return Explanation(
        log=blob.name,
        exit_status=log.exit_status,
        sessions=len(log.sessions),
        passed=sum(session.passed for session in log.sessions),
        failed=sum(session.failed + session.errors for session in log.sessions),
        causes=found,
        warnings=(*damage, *(str(warning) for warning in log.warnings)),
    )


def read_log(
    blob: Blob, table: SignatureTable, warn: Warn, exit_status: int | None = None
) -> tuple[JobLog, tuple[Cause, ...]]:
    """One pass over a log: its outline, and the causes found in it.

    `exit_status` is what the job is known to have ended with; it helps where the log itself does not say.
    """
    outline, scan = Outline(), Scan(table, clean)
    for block in blocks(salvaged(blob, warn)):
        outline.feed(block)
        scan.feed(block)
    log = outline.result()
    if log.exit_status is None:
        log = replace(log, exit_status=exit_status)
    return log, causes(scan.matches(), log)


def parse(blob: Blob, warn: Warn) -> ReportSummary:
    """What one result file holds, counted."""
    return read_report(blob.name, salvaged(blob, warn), lambda _attempt: None)


def read(evidence: Evidence, table: SignatureTable) -> JobRecord:
    """All that one job left, understood: its attempts with their signatures, and the causes in its log."""
    warnings: list[str] = []
    attempts: list[Attempt] = []
    log = JobLog(lines=0)
    found: tuple[Cause, ...] = ()
    if evidence.log is not None:
        try:
            log, found = read_log(evidence.log, table, warnings.append, evidence.job.exit_status)
            warnings += [f"{evidence.log.name}: {warning}" for warning in log.warnings]
        except FlakeReportError as error:
            warnings.append(str(error))
    for blob in evidence.reports:
        session = session_of_report(blob.name, log.sessions)
        keep = attempts.append if session is None else in_session(session, attempts.append)
        try:
            summary = read_report(blob.name, salvaged(blob, warnings.append), keep)
            warnings += [f"{blob.name}: {warning}" for warning in summary.warnings]
        except FlakeReportError as error:
            warnings.append(str(error))
    kept = best_source(attempts, log)
    return JobRecord(
        build=evidence.build,
        job=evidence.job,
        attempts=tuple(classify(attempt, found, table) for attempt in kept),
        causes=found,
        memory=log.memory,
        engines=log.engines,
        sources=tuple(sorted({attempt.source.value for attempt in kept})),
        warnings=tuple(warnings),
        mode=evidence.mode,
        versions=_versions(table),
    )


def classify(attempt: Attempt, found: tuple[Cause, ...], table: SignatureTable) -> ClassifiedAttempt:
    """Why this attempt failed, from its own text; what that leaves open, from the log's causes for its test."""
    if not attempt.outcome.bad:
        return ClassifiedAttempt(attempt)
    if not attempt.fingerprint and (known := prints.fingerprint(attempt.message)):
        attempt = replace(attempt, fingerprint=known.hash)
    match = match_text(table, f"{attempt.message}\n{attempt.text}")
    own = [cause for cause in found if not cause.wrapper and cause.test and from_nodeid(cause.test) == attempt.test]
    if match and not match.signature.wrapper:
        name = match.signature.name
        settled = {cause.signature: cause for cause in own}
        cause = settled.get(CONSEQUENCES.get(name, name))
        return ClassifiedAttempt(attempt, cause.signature, cause.blame.value) if cause else _as_matched(attempt, match)
    return ClassifiedAttempt(attempt, own[0].signature, own[0].blame.value) if own else ClassifiedAttempt(attempt)


def _as_matched(attempt: Attempt, match: Match) -> ClassifiedAttempt:
    return ClassifiedAttempt(attempt, match.signature.name, match.signature.blame.value)


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
    known: frozenset[tuple[str, str]] = frozenset() if again else _read_before(opened, _versions(table))

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


def _versions(table: SignatureTable) -> Versions:
    return Versions(PARSER_VERSION, table.digest, prints.VERSION)


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
