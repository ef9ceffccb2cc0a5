"""Incidents from victims that are spelled out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from flake_report.model.evidence import Build
from flake_report.model.failure import Blame
from flake_report.model.incident import Struck
from flake_report.model.query import Query
from flake_report.model.rate import Variant
from flake_report.model.results import TestId
from flake_report.rate.incidents import incidents, kinds, of_tests, struck

MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
BUILDS = tuple(
    Build("acme", "ci", str(at), at, f"c{at}", "main", "", MONDAY + timedelta(days=at), "failed") for at in range(10)
)


def hit(order: int, job: str, test: str, ordinal: int, signature: str = "free-memory", *, told: str = "") -> Struck:
    blame = Blame.GPU_MEMORY if signature == "free-memory" else Blame.INFRA
    variant = Variant(TestId("m", test), "unit", "L4", "")
    return Struck(order, job, "agent", "host", signature, blame, ordinal, told, variant)


def test_victims_of_one_job_and_signature_are_one_incident_in_the_order_in_which_they_were_struck() -> None:
    [one] = incidents([hit(3, "j", "late", 9), hit(3, "j", "early", 2, told="f1"), hit(3, "j", "mid", 5)], BUILDS)
    assert [victim.test.name for victim in one.victims] == ["early", "mid", "late"]
    assert (one.build, one.job, one.signature, one.fingerprint, one.culprit) == (
        BUILDS[3],
        "j",
        "free-memory",
        "f1",
        "",
    )


def test_other_jobs_and_other_signatures_are_other_incidents_the_newest_first() -> None:
    made = incidents(
        [hit(1, "a", "t", 0), hit(1, "b", "t", 0), hit(4, "c", "t", 0), hit(4, "c", "u", 1, "no-space")], BUILDS
    )
    assert [(one.job, one.signature) for one in made] == [
        ("c", "free-memory"), ("c", "no-space"), ("a", "free-memory"), ("b", "free-memory"),
    ]  # fmt: skip


def test_a_culprit_is_named_for_gpu_memory_alone() -> None:
    made = incidents([hit(1, "a", "t", 0), hit(1, "a", "u", 1, "no-space")], BUILDS, {"a": "m::polluter"})
    assert {one.signature: one.culprit for one in made} == {"free-memory": "m::polluter", "no-space": ""}


def test_a_kind_of_incident_tells_when_it_was_seen_and_whether_it_is_new() -> None:
    """Builds 0 to 6 are of the first week, 7 to 9 of the second."""
    made = incidents(
        [
            hit(2, "a", "t", 0, told="f1"),
            hit(8, "b", "t", 0, told="f1"),
            hit(8, "b", "u", 1, told="f1"),
            hit(9, "c", "t", 0, "no-space"),
        ],
        BUILDS,
    )
    often, once = kinds(made, BUILDS)
    assert (often.signature, often.incidents, often.victims, often.first, often.last, often.new) == (
        "free-memory", 2, 2, BUILDS[2], BUILDS[8], False,
    )  # fmt: skip
    assert (once.signature, once.first, once.new) == ("no-space", BUILDS[9], True)


def test_in_a_history_of_one_week_nothing_is_called_new() -> None:
    assert not kinds(incidents([hit(2, "a", "t", 0)], BUILDS[:5]), BUILDS[:5])[0].new


def test_with_another_fingerprint_it_is_another_kind() -> None:
    made = incidents([hit(1, "a", "t", 0, told="f1"), hit(2, "b", "t", 0, told="f2")], BUILDS)
    assert {(kind.fingerprint, kind.incidents) for kind in kinds(made, BUILDS)} == {("f1", 1), ("f2", 1)}


def test_asked_for_one_test_only_its_incidents_are_told_with_all_their_victims() -> None:
    made = incidents([hit(1, "a", "t", 0), hit(1, "a", "u", 1), hit(2, "b", "u", 0)], BUILDS)
    assert [(one.job, len(one.victims)) for one in of_tests(made, "m::t")] == [("a", 2)]
    assert of_tests(made, None) == made


def test_only_failures_by_the_environment_strike(job_records) -> None:
    made = struck(job_records("P", "F", "wV|V", "V!", "S"), Query())
    assert [(one.order, one.job, one.ordinal) for one in made] == [
        (2, "2-0", 1), (2, "2-1", 0), (3, "3-0", 0),
    ]  # fmt: skip
