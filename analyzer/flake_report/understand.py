"""One job's evidence, understood: what the parsers read, with what the signatures say of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import repeat
from typing import TypeAlias

from flake_report.classify import diagnosis
from flake_report.classify import fingerprint as prints
from flake_report.classify.attempt import recorded_event, signature_of
from flake_report.classify.scan import Scan
from flake_report.classify.signatures import SignatureTable, parse_table
from flake_report.classify.verdict import causes
from flake_report.collect.files import Warn, salvaged
from flake_report.errors import FlakeReportError
from flake_report.model.evidence import Blob, Evidence
from flake_report.model.failure import Cause
from flake_report.model.joblog import JobLog
from flake_report.model.record import ClassifiedAttempt, JobRecord, Versions
from flake_report.model.results import Attempt, Outcome, ResultSource, TestId
from flake_report.parse import VERSION as PARSER_VERSION
from flake_report.parse.joblog import Outline, blocks, clean
from flake_report.parse.precedence import best_source
from flake_report.parse.reports import read_report
from flake_report.parse.samples import nodeid, samples_of
from flake_report.parse.sessions import ReportFile
from flake_report.parse.testid import as_logged, from_nodeid

from .cycles import seldom_searched


def signature_table(*user_files: tuple[str, str]) -> SignatureTable:
    """The packaged table, after the rows of `(name, text)` files that a user gave."""
    packaged = files("flake_report.classify").joinpath("signatures.toml").read_text(encoding="utf-8")
    table = parse_table(packaged, "signatures.toml")
    for name, text in user_files:
        table = table.extended(parse_table(text, name))
    return table


def read_log(
    blob: Blob, table: SignatureTable, warn: Warn, exit_status: int | None = None
) -> tuple[JobLog, tuple[Cause, ...]]:
    """One pass over a log: its outline, and the causes found in it, diagnosed by what the log itself tells.

    `exit_status` is what the job is known to have ended with; it helps where the log itself does not say.
    """
    outline, scan = Outline(), Scan(table, clean)
    for block in blocks(salvaged(blob, warn)):
        outline.feed(block)
        scan.feed(block)
    log = outline.result()
    if log.exit_status is None:
        log = replace(log, exit_status=exit_status)
    return log, diagnose(causes(scan.matches(), log), log, log.attempts)


def read(evidence: Evidence, table: SignatureTable, *, texts: bool = True) -> JobRecord:
    """All that one job left, understood: its attempts with their signatures, and the causes in its log.

    Without `texts` failures lose their tracebacks once these are understood: a store holds none, and those of the many
    jobs that are stored together would take more memory than all else.
    """
    with seldom_searched():
        return _read(evidence, table, texts=texts)


def _read(evidence: Evidence, table: SignatureTable, *, texts: bool) -> JobRecord:
    warnings: list[str] = []
    reports: list[ReportFile] = []
    log = JobLog(lines=0)
    found: tuple[Cause, ...] = ()
    if evidence.log is not None:
        try:
            log, found = read_log(evidence.log, table, warnings.append, evidence.job.exit_status)
            warnings += [f"{evidence.log.name}: {warning}" for warning in log.warnings]
        except FlakeReportError as error:
            warnings.append(str(error))
    for blob in evidence.reports:
        attempts: list[Attempt] = []
        reports.append(ReportFile(blob.name, attempts))
        try:
            summary = read_report(blob.name, salvaged(blob, warnings.append), attempts.append)
            warnings += [f"{blob.name}: {warning}" for warning in summary.warnings]
        except FlakeReportError as error:
            warnings.append(str(error))
    kept = best_source(reports, log)
    sources = {attempt.source for attempt in kept}
    measured = kept if ResultSource.ATTEMPTS in sources else ()  # nothing else tells of memory test by test
    found = diagnose((*found, *_recorded(measured, found, table)), log, kept)
    return JobRecord(
        build=evidence.build,
        job=evidence.job,
        attempts=classified(kept, found, table, texts=texts),
        causes=found,
        memory=(*log.memory, *samples_of(measured)),
        engines=log.engines,
        sources=tuple(sorted(source.value for source in sources)),
        warnings=tuple(warnings),
        mode=evidence.mode,
        versions=versions_with(table),
    )


def _recorded(attempts: Sequence[Attempt], found: tuple[Cause, ...], table: SignatureTable) -> tuple[Cause, ...]:
    """GPU-memory events that the recorder met and the log does not tell of, each test's first."""
    measured = [attempt for attempt in attempts if attempt.memory and attempt.outcome.bad]
    told = {from_nodeid(cause.test) for cause in found if cause.test} if measured else set()
    numbers = [dict(cause.captures) for cause in found if not cause.test]
    events: dict[TestId, Cause] = {}
    for attempt in measured:
        test = as_logged(attempt.test)
        if test in told or test in events:
            continue
        event = recorded_event(attempt, nodeid(attempt), table)
        if event is not None and dict(event.captures) not in numbers:
            events[test] = event
    return tuple(events.values())


def diagnose(found: tuple[Cause, ...], log: JobLog, attempts: Sequence[Attempt]) -> tuple[Cause, ...]:
    """The causes, each GPU-memory event diagnosed by all that its job left."""
    tests = {cause.test: from_nodeid(cause.test) for cause in found if cause.test}
    of_test: dict[TestId, list[Attempt]] = {test: [] for test in tests.values()}
    for attempt in attempts if tests else ():
        if (mine := of_test.get(as_logged(attempt.test))) is not None:
            mine.append(attempt)
    return diagnosis.diagnosed(found, log, {name: of_test[test] for name, test in tests.items()})


def classified(
    attempts: Sequence[Attempt], found: tuple[Cause, ...], table: SignatureTable, *, texts: bool
) -> tuple[ClassifiedAttempt, ...]:
    """Each attempt with why it failed, with the fingerprint of its message, and with its text if `texts`."""
    of_test: dict[TestId, list[Cause]] = defaultdict(list)
    for cause in found:
        if cause.test:
            of_test[from_nodeid(cause.test)].append(cause)
    nothing = repeat("")  # known of most: made without a line of Python for each
    known = list(map(tuple.__new__, repeat(ClassifiedAttempt), zip(attempts, nothing, nothing, strict=False)))
    passed = Outcome.PASSED
    for at in [at for at, attempt in enumerate(attempts) if attempt.outcome is not passed and attempt.outcome.bad]:
        attempt = attempts[at]
        signature = signature_of(attempt.message, attempt.text, of_test.get(as_logged(attempt.test), ()), table)
        known[at] = ClassifiedAttempt(_fingerprinted(attempt, texts=texts), *(signature or ()))
    return tuple(known)


def _fingerprinted(attempt: Attempt, *, texts: bool) -> Attempt:
    """An attempt that failed, with its fingerprint."""
    found = None if attempt.fingerprint else prints.fingerprint(attempt.message)
    return attempt._replace(
        fingerprint=found.hash if found else attempt.fingerprint, text=attempt.text if texts else ""
    )


def versions_with(table: SignatureTable) -> Versions:
    """What everything derived is derived with, today."""
    return Versions(PARSER_VERSION, table.digest, prints.VERSION, diagnosis.VERSION)


def of_job(record: JobRecord) -> list[str]:
    """The warnings of a job, with its place."""
    return [f"build {record.build.key}, job {record.job.id}: {warning}" for warning in record.warnings]


Told: TypeAlias = tuple[str, str, str, str | None]
"""What decides whether a job of an archive must be read again: its id, what was collected of it, and what may still
be told of it later: its build's state, and the job that it retried."""


def told(evidence: Evidence) -> Told:
    return evidence.job.id, evidence.mode.value, evidence.build.state, evidence.job.retry_of
