"""One build against what is known: which of its failures are new, which are known flakes, which the environment's.

The failure is judged, not the test: what is known to flake in one way and fails in another is a new failure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flake_report.model.evidence import Job, JobState
from flake_report.model.failure import Cause, Signature
from flake_report.model.known import KnownFailures, KnownTest, KnownWay
from flake_report.model.query import label
from flake_report.model.rate import Variant
from flake_report.model.record import JobRecord
from flake_report.model.results import TestId
from flake_report.model.triage import BuildFailure, FailureKind, Recovered, Triage
from flake_report.model.verdict import TestVerdict
from flake_report.model.words import plural

from .runs import Fate, Tried, fates

RETRY = "try the job again; quarantine it (flake-report quarantine) until it is mended"
LOOK = "look at this change first: nothing else explains it"
DOUBT = "take it for new, until something tells"
MEND = "it is not of this build: mend it, or take back the commit that broke it"


def triage(
    records: Sequence[JobRecord], known: KnownFailures | None, signatures: Mapping[str, Signature] | None = None
) -> Triage:
    """What failed in the end, over reruns and retries of jobs; `signatures` are the rows that attempts name.

    Without `known` nothing can be called new or a flake.
    """
    judge = _Judge(known, signatures or {}, {record.job.id: record.causes for record in records})
    failures: list[BuildFailure] = []
    recovered: list[Recovered] = []
    explained: dict[str, set[str]] = defaultdict(set)
    tests = 0
    for variant, tried in _runs(records):
        tests += 1
        told = judge.run(variant, tried)
        if isinstance(told, BuildFailure):
            failures.append(told)
            for one in tried:
                if one.classified.attempt.outcome.bad:
                    explained[one.job.id].add(told.signature)
        elif told is not None:
            recovered.append(told)
    failures += judge.jobs(records, explained)
    kinds = list(FailureKind)
    return Triage(
        build=records[0].build if records else None,
        jobs=len(records),
        tests=tests,
        failures=tuple(sorted(failures, key=lambda one: (kinds.index(one.kind), one.signature, one.job.id))),
        recovered=tuple(recovered),
        known=known,
    )


def _runs(records: Sequence[JobRecord]) -> Iterator[tuple[Variant, list[Tried]]]:
    """All attempts of each variant, in order.

    Of jobs that nobody told of, none is known to be another one's retry: what passes in one mends nothing in another.
    """
    runs: dict[tuple[Variant, str], list[Tried]] = defaultdict(list)
    for record in records:
        job = record.job
        apart = job.id if job.state is JobState.UNKNOWN else ""
        for ordinal, each in enumerate(record.attempts):
            variant = Variant(each.attempt.test, job.step, job.queue, each.attempt.session_key)
            runs[variant, apart].append(Tried(job, each, ordinal))
    for (variant, _apart), tried in sorted(runs.items()):
        yield variant, sorted(tried, key=lambda one: one.order)


@dataclass(slots=True)
class _Judge:
    """What is known, by test, and the causes that each job's log names."""

    known: KnownFailures | None
    signatures: Mapping[str, Signature]
    causes: Mapping[str, Sequence[Cause]]

    def run(self, variant: Variant, tried: Sequence[Tried]) -> BuildFailure | Recovered | None:
        """One variant; None where it did not fail, or only in jobs that were lost."""
        judged = list(zip(fates(tried), tried, strict=True))
        own = [each for fate, each in judged if fate is Fate.FAILED]
        struck = [each for fate, each in judged if fate is Fate.VICTIM]
        failed = own or struck
        if not failed:
            return None
        if any(fate is Fate.PASSED for fate, _ in judged):
            first = failed[0]
            flake = bool(own) and self._own(variant, own).kind is FailureKind.FLAKE
            return Recovered(variant, first.job, first.classified.attempt.message, flake)
        return self._own(variant, own) if own else self._victim(variant, struck[-1])

    def jobs(self, records: Sequence[JobRecord], explained: Mapping[str, set[str]]) -> Iterator[BuildFailure]:
        """Jobs that failed, were not tried again, and of which no test explains it.

        `explained` are the signatures of the failed tests of each job. Where the log's root cause is the environment's
        and none of theirs, it is told beside them: what they say may be what came of it.
        """
        tried_again = {record.job.retry_of for record in records}
        for record in records:
            job, cause = record.job, next(iter(record.causes), None)
            if job.id in tried_again:
                continue
            if job.id in explained:
                if cause and cause.blame.environment and not cause.test and cause.signature not in explained[job.id]:
                    yield self._by_cause(None, job, cause.text, cause)
            elif not _failed(record):
                continue
            elif cause is not None:
                yield self._by_cause(None, job, cause.text, cause)
            elif job.exit_status == -1:
                why = "the agent was lost before the job ended: no test is to blame"
                yield BuildFailure(FailureKind.AGENT, None, job, "", why, "try the job again")
            else:
                ran_out = job.state is JobState.TIMED_OUT
                why = "it ran out of time" if ran_out else "no test failed in it, and its log names no cause"
                yield BuildFailure(FailureKind.UNCLEAR, None, job, "", why, "read the end of its log")

    def _victim(self, variant: Variant, last: Tried) -> BuildFailure:
        signature = last.classified.signature
        cause = self._cause(variant.test, last.job, signature)
        if cause is not None:
            return self._by_cause(variant, last.job, last.classified.attempt.message, cause)
        row = self.signatures.get(signature)
        why = f"{row.title}{self._incidents(signature)}" if row else f"{signature}{self._incidents(signature)}"
        kind = FailureKind(last.classified.blame)
        advice = row.hint if row else ""
        return BuildFailure(kind, variant, last.job, last.classified.attempt.message, why, advice, signature)

    def _by_cause(self, variant: Variant | None, job: Job, message: str, cause: Cause) -> BuildFailure:
        """What the log says of it; of what is no fault of the environment, only that."""
        kind = FailureKind(cause.blame.value) if cause.blame.environment else FailureKind.UNCLEAR
        told = f"{cause.title}; {cause.diagnosis.sentence}" if cause.diagnosis else cause.title
        past = f"; {cause.past.sentence}" if cause.past else self._incidents(cause.signature)
        advice = cause.diagnosis.advice if cause.diagnosis else cause.hint
        why = told + past if cause.blame.environment else f"the job failed outside its tests: {told}"
        return BuildFailure(kind, variant, job, message, why, advice, cause.signature, cause)

    def _cause(self, test: TestId, job: Job, signature: str) -> Cause | None:
        """The cause of a job's log that is this test's, else the one without a test."""
        alike = [one for one in self.causes.get(job.id, ()) if one.signature == signature]
        own = [one for one in alike if one.test and label(one.test) == test.label]
        return next(iter(own), None) or next((one for one in alike if not one.test), None)

    def _incidents(self, signature: str) -> str:
        alike = [one for one in (self.known.incidents if self.known else ()) if one.signature == signature]
        if not alike:
            return ""
        count = sum(one.incidents for one in alike)
        since = min((one.first_at for one in alike if one.first_at), default=None)
        return f"; {plural(count, 'incident')} like it before" + (f", since {since:%Y-%m-%d}" if since else "")

    def _own(self, variant: Variant, failed: Sequence[Tried]) -> BuildFailure:
        last = failed[-1]
        prints = {one.classified.attempt.fingerprint for one in failed} - {""}
        rows = self._rows(variant)
        ways = {way.fingerprint: way for row in rows for way in row.ways if way.fingerprint}
        kind, why, advice = self._judged(prints, rows, ways)
        seen = next((ways[one].url for one in sorted(prints) if one in ways and ways[one].url), "")
        owner = next((row.owner for row in rows if row.owner), "")
        signature, message = last.classified.signature, last.classified.attempt.message
        cause = self._cause(variant.test, last.job, signature)
        return BuildFailure(kind, variant, last.job, message, why, advice, signature, cause, seen=seen, owner=owner)

    def _rows(self, variant: Variant) -> list[KnownTest]:
        """What is known of the test in its step and queue; where those are not known, of the test anywhere."""
        rows = [row for row in (self.known.tests if self.known else ()) if row.variant.test == variant.test]
        here = [row for row in rows if (row.variant.step, row.variant.queue) == (variant.step, variant.queue)]
        if here or variant.queue:
            return here
        return [row for row in rows if row.variant.step == variant.step] or rows

    def _judged(
        self, prints: set[str], rows: Sequence[KnownTest], ways: Mapping[str, KnownWay]
    ) -> tuple[FailureKind, str, str]:
        """Kind, reason and advice for an own failure with these fingerprints."""
        if self.known is None:
            return FailureKind.UNCLEAR, "there is no history to compare it with", DOUBT
        if not any(row.ways for row in rows):
            return FailureKind.NEW, f"no failure of its own is known from {plural(self.known.builds, 'build')}", LOOK
        row = max(rows, key=lambda one: (one.verdict is TestVerdict.BROKEN, one.first_failures))
        if prints - set(ways):
            return FailureKind.NEW, f"it never failed in this way; it is known as {_known_as(row)}", LOOK
        return _known_way(row, [ways[one] for one in sorted(prints)])


def _known_way(row: KnownTest, ways: Sequence[KnownWay]) -> tuple[FailureKind, str, str]:
    """The same for a failure that is no news: all its ways are known, or it has none."""
    if row.verdict is TestVerdict.BROKEN:
        return FailureKind.REGRESSION, _known_as(row), MEND
    if not ways:
        return FailureKind.UNCLEAR, f"its message is cut short, so that it is like no other; {_known_as(row)}", DOUBT
    if all(way.flake for way in ways):
        return FailureKind.FLAKE, f"{row.reason}; {_counted(row)}", RETRY
    last = next(way.last for way in ways if not way.flake)
    return FailureKind.UNCLEAR, f"it failed so before, last in {last}; {_known_as(row)}", DOUBT


def _known_as(row: KnownTest) -> str:
    return f"{row.verdict.value}: {row.reason}"


def _counted(row: KnownTest) -> str:
    """How often it fails, and until when that was counted where that is known."""
    until = f", counted until {row.until:%Y-%m-%d}" if row.until else ""
    return f"first attempts fail in {row.first_failures:,} of {plural(row.own_runs, 'run')}{until}"


def _failed(record: JobRecord) -> bool:
    job = record.job
    if job.state is JobState.CANCELED:
        return False
    ended_badly = job.state in (JobState.FAILED, JobState.TIMED_OUT) or job.exit_status not in (None, 0)
    return ended_badly or (job.state is JobState.UNKNOWN and bool(record.causes))
