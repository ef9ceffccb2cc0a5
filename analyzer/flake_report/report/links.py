"""Addresses of builds and jobs on Buildkite."""

from __future__ import annotations

import re

from flake_report.model.evidence import Build

_SLUG = re.compile(r"[A-Za-z0-9._-]+")
"""What Buildkite makes names and job ids of; anything else comes from elsewhere and has no page."""


def build_url(build: Build) -> str | None:
    """The page of a build; None for one that has no page, as those of plain folders have no number."""
    if build.number is None or not _SLUG.fullmatch(build.org) or not _SLUG.fullmatch(build.pipeline):
        return None
    return f"https://buildkite.com/{build.org}/{build.pipeline}/builds/{build.number}"


def job_url(build: Build, job: str) -> str | None:
    """The place of a job on its build's page; None where there is no such page."""
    page = build_url(build)
    return f"{page}#{job}" if page and _SLUG.fullmatch(job) else None
