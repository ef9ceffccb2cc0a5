"""Incidents: what struck several tests of a job at once happened once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from flake_report.model.evidence import Build
from flake_report.model.failure import Blame
from flake_report.model.incident import Incident, IncidentKind, Struck
from flake_report.model.query import Query, of_test
from flake_report.model.rate import Variant
from flake_report.model.record import JobRecord

from .runs import Tried, asked_jobs


def struck(records: Sequence[JobRecord], query: Query) -> tuple[Struck, ...]:
    """Every variant that the environment failed, straight from job records: what the store's SQL must equal."""
    found: dict[tuple[str, Variant, str, str], Struck] = {}
    for order, record in asked_jobs(records, query):
        job = record.job
        for ordinal, classified in enumerate(record.attempts):
            if not Tried(job, classified, ordinal).struck:
                continue
            attempt = classified.attempt
            variant = Variant(attempt.test, job.step, job.queue, attempt.session_key)
            place = (job.id, variant, classified.signature, classified.blame)
            known = found.get(place)
            found[place] = Struck(
                order=order,
                job=job.id,
                agent=job.agent,
                host=job.host,
                signature=classified.signature,
                blame=Blame(classified.blame),
                ordinal=known.ordinal if known else ordinal,
                fingerprint=(known.fingerprint if known else "") or attempt.fingerprint,
                variant=variant,
            )
    return tuple(sorted(found.values(), key=lambda one: (one.order, one.job, one.ordinal, one.signature)))


def incidents(
    victims: Sequence[Struck], builds: Sequence[Build], culprits: Mapping[str, str] | None = None
) -> tuple[Incident, ...]:
    """One incident a job and signature, newest build first; `builds` are what every `order` points to.

    `culprits` names, for jobs where it is known, the test that left GPU memory behind.
    """
    jobs: dict[tuple[int, str, str], list[Struck]] = defaultdict(list)
    for one in victims:
        jobs[one.order, one.job, one.signature].append(one)
    found = []
    for (order, job, signature), mine in sorted(jobs.items(), key=lambda item: (-item[0][0], *item[0][1:])):
        mine.sort(key=lambda one: (one.ordinal, one.variant))
        first = mine[0]
        named = (culprits or {}).get(job, "") if first.blame is Blame.GPU_MEMORY else ""
        found.append(
            Incident(
                build=builds[order],
                job=job,
                signature=signature,
                victims=tuple(dict.fromkeys(one.variant for one in mine)),
                culprit=named,
                blame=first.blame,
                fingerprint=next((one.fingerprint for one in mine if one.fingerprint), ""),
                agent=first.agent,
                host=first.host,
            )
        )
    return tuple(found)


def of_tests(found: Sequence[Incident], pattern: str | None) -> tuple[Incident, ...]:
    """The incidents that struck a test of this name or pattern; all of them where there is none."""
    if pattern is None:
        return tuple(found)
    wanted = of_test(pattern)
    return tuple(one for one in found if any(wanted.matches(victim.test.label) for victim in one.victims))


def kinds(found: Sequence[Incident], builds: Sequence[Build]) -> tuple[IncidentKind, ...]:
    """Incidents over builds by signature and fingerprint, the most frequent first; `builds` in their order.

    Failures without a fingerprint are told apart by their signature alone.
    """
    order = {build: at for at, build in enumerate(builds)}
    alike: dict[tuple[str, str], list[Incident]] = defaultdict(list)
    for one in found:
        alike[one.signature, one.fingerprint].append(one)
    return tuple(
        sorted(_kinds(alike, order), key=lambda kind: (-kind.incidents, kind.signature, kind.fingerprint)),
    )


def _kinds(alike: Mapping[tuple[str, str], Sequence[Incident]], order: Mapping[Build, int]) -> Iterator[IncidentKind]:
    weeks = sorted({build.week for build in order})
    for (signature, fingerprint), mine in alike.items():
        first = min((one.build for one in mine), key=order.__getitem__)
        yield IncidentKind(
            signature=signature,
            fingerprint=fingerprint,
            blame=mine[0].blame,
            incidents=len(mine),
            victims=len({victim for one in mine for victim in one.victims}),
            first=first,
            last=max((one.build for one in mine), key=order.__getitem__),
            new=len(weeks) > 1 and first.week == weeks[-1],
        )
