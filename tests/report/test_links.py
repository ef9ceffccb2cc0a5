"""Addresses on Buildkite, and builds that have none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from flake_report.model.evidence import Build
from flake_report.report.links import build_url, job_url

BUILD = Build("acme", "ci", "61473", 61473, "c1", "main", "webhook", datetime(2026, 11, 1, tzinfo=UTC), "failed")


def test_a_build_and_a_job_have_a_page() -> None:
    assert build_url(BUILD) == "https://buildkite.com/acme/ci/builds/61473"
    assert job_url(BUILD, "0190-ab") == "https://buildkite.com/acme/ci/builds/61473#0190-ab"


FOREIGN = {
    "without a number": replace(BUILD, number=None),
    "of a folder with blanks in its name": replace(BUILD, pipeline="my results"),
    "whose organisation would end the address": replace(BUILD, org="a/../b#"),
}


@pytest.mark.parametrize("build", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_build_has_no_page(build) -> None:
    assert build_url(build) is None
    assert job_url(build, "0190-ab") is None


def test_a_job_id_that_is_none_has_no_page() -> None:
    assert job_url(BUILD, "a b\x1b") is None
