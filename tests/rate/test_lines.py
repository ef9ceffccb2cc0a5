"""On which branches of which pipelines a pool ran, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flake_report.rate.lines import Lines, line_of


@pytest.fixture
def lines(fleet) -> Lines:
    """Builds 0 to 5: main but for build 2 on a branch, and build 4 of another pipeline; build 5 has no job of it."""
    builds = list(fleet(*"PPPPPP").builds)
    builds[2] = replace(builds[2], branch="pr")
    builds[4] = replace(builds[4], pipeline="nightly")
    return Lines([line_of(build) for build in builds], range(5))


MEETS = [
    ("main", 0, 0, True),
    ("main", 2, 2, False),
    ("main", 1, 3, True),
    ("main", 4, 5, False),
    ("pr", 0, 1, False),
    ("pr", 1, 2, True),
    ("pr", 3, 5, False),
    ("never built", 0, 5, False),
]


@pytest.mark.parametrize(("branch", "first", "last", "does"), MEETS)
def test_a_line_is_met_where_a_build_of_it_has_a_job_of_the_pool(branch, first, last, does, lines) -> None:
    assert lines.meets(("acme", "ci", branch), first, last) is does


def test_pipelines_with_one_branch_name_are_two_lines(lines) -> None:
    assert lines.of(3) == ("acme", "ci", "main")
    assert lines.of(4) == ("acme", "nightly", "main")
