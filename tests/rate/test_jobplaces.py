"""Where jobs ran, from builds that are spelled out; a job retry runs on the next agent, at the same commit."""

from __future__ import annotations

import pytest

from flake_report.model.machines import Elsewhere
from flake_report.model.query import Query
from flake_report.rate.jobplaces import elsewhere, job_places

TOLD = {
    "failed here, passed on the other": (("F|P",), [("agent-0", 1, 1)]),
    "failed on both": (("F|F",), [("agent-0", 1, 0), ("agent-1", 1, 0)]),
    "passed here, failed on the other": (("P|F",), [("agent-1", 1, 1)]),
    "nothing ran elsewhere": (("F", "P"), []),
    "another build is another commit": (("F", "F|P", "P"), [("agent-0", 1, 1)]),
    "a job that died says nothing": (("F!|P",), []),
    "a skipped test did not run": (("F|S",), []),
    "failed and passed here, passed on the other": (("FP|P",), [("agent-0", 1, 1)]),
}


@pytest.mark.parametrize(("builds", "expected"), TOLD.values(), ids=TOLD.keys())
def test_what_failed_here_is_sought_on_other_machines(builds, expected, job_records) -> None:
    assert elsewhere(job_records(*builds), Query()) == tuple(Elsewhere(*row) for row in expected)


def test_each_job_is_told_with_its_machine_and_its_trouble(job_records) -> None:
    places = job_places(job_records("P", "F!|P"), Query(), own={"1-1"}, victims={"0-0", "1-1"})
    machines = [places.machine.names[code] for code in places.machine.codes]
    marks = (places.retry, places.own, places.victim, places.lost)
    assert list(zip(places.order, machines, *marks, strict=True)) == [
        (0, "agent-0", False, False, True, False),
        (1, "agent-0", False, False, False, True),
        (1, "agent-1", True, True, True, False),
    ]
