"""Incidents as a person and a program see them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from flake_report.model.evidence import Build
from flake_report.model.failure import Blame
from flake_report.model.incident import Incident, IncidentKind
from flake_report.model.rate import Variant
from flake_report.model.results import TestId
from flake_report.report.incidents import SHOWN, kind_to_json, to_json, to_text

BUILDS = [
    Build("acme", "ci", str(day), day, "c", "main", "", datetime(2026, 11, day, tzinfo=UTC), "failed")
    for day in (3, 24)
]
VICTIMS = tuple(Variant(TestId("m", name), "kv", "gpu_1", "") for name in ("t_1", "t_2"))
INCIDENT = Incident(BUILDS[0], "job-1", "free-memory", VICTIMS, blame=Blame.GPU_MEMORY, fingerprint="f1", host="h1")
KIND = IncidentKind("free-memory", "f1", Blame.GPU_MEMORY, 1, 2, BUILDS[0], BUILDS[1], new=True)


def test_a_kind_is_told_with_its_victims_days_and_culprit(printed) -> None:
    text = printed(to_text([INCIDENT], [KIND], everything=False))
    assert "1 incident of the environment, 2 victims" in text
    assert "1×  free-memory · 2 tests · 2026-11-03 to 2026-11-24 · new · culprit undetermined" in text


def test_a_known_culprit_is_named(printed) -> None:
    named = Incident(BUILDS[0], "job-1", "free-memory", VICTIMS, "m::polluter", fingerprint="f1")
    alone, both = KIND, replace(KIND, incidents=2)
    assert printed(to_text([named], [alone], everything=False)).rstrip().endswith("culprit m::polluter")
    assert "culprit m::polluter (1 of 2)" in printed(to_text([named, INCIDENT], [both], everything=False))


def test_many_kinds_are_cut_unless_everything_is_asked_for(printed) -> None:
    kinds = [KIND] * (SHOWN + 2)
    assert "… 2 more kinds; --all shows them" in printed(to_text([INCIDENT], kinds, everything=False))
    assert printed(to_text([INCIDENT], kinds, everything=True)).count("free-memory") == SHOWN + 2


def test_without_incidents_nothing_is_said(printed) -> None:
    assert printed(to_text([], [], everything=False)) == ""


def test_json_names_what_is_not_known_as_null() -> None:
    told = to_json(INCIDENT)
    assert told["culprit"] is None
    assert told["victims"] == ["m::t_1", "m::t_2"]
    assert (told["build"], told["job"], told["at"], told["blame"]) == (
        "3",
        "job-1",
        "2026-11-03T00:00:00Z",
        "gpu-memory",
    )
    assert told["url"] == "https://buildkite.com/acme/ci/builds/3#job-1"


def test_json_of_a_kind_says_since_when_and_until_when() -> None:
    told = kind_to_json(KIND)
    assert (told["first_build"], told["last_build"], told["new"], told["victims"]) == ("3", "24", True, 2)
