"""What each GPU-memory event of a job came of, by the evidence in that job; history may add to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from flake_report.model.failure import Blame, Cause, Diagnosis
from flake_report.model.joblog import JobLog
from flake_report.model.results import Attempt

from .diagnosis_evidence import JobEvidence
from .diagnosis_memory import RULES, unknown
from .diagnosis_start import RULES_BY_SIGNATURE

VERSION = "1"
"""Rises whenever the same evidence would be diagnosed otherwise; stored with each job."""


def diagnosed(causes: Sequence[Cause], log: JobLog, attempts: Mapping[str, Sequence[Attempt]]) -> tuple[Cause, ...]:
    """The causes, each GPU-memory event with its diagnosis. `attempts` are those of each cause's test, in order."""
    evidence = JobEvidence(log)
    return tuple(
        replace(cause, diagnosis=_diagnosis(cause, log, evidence, attempts.get(cause.test or "", ())))
        if cause.blame is Blame.GPU_MEMORY or cause.signature in RULES_BY_SIGNATURE
        else cause
        for cause in causes
    )


def _diagnosis(cause: Cause, log: JobLog, evidence: JobEvidence, attempts: Sequence[Attempt]) -> Diagnosis:
    facts = evidence.of(cause, attempts)
    special = RULES_BY_SIGNATURE.get(cause.signature)
    if special is not None and (found := special(facts, log)):
        return found
    return next((found for rule in RULES if (found := rule(facts))), None) or unknown(facts)
