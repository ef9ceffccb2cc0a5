"""The metrics, read by the parser of Prometheus' own client."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from flake_report.model.cost import Cost
from flake_report.model.evidence import Build
from flake_report.model.failure import Blame
from flake_report.model.incident import Incident
from flake_report.model.report import FlakeReport
from flake_report.report.files import FILES
from flake_report.report.history import to_json
from flake_report.report.metrics import TEST_METRICS, metrics_prom


def parsed(report: FlakeReport) -> dict[str, list]:
    families = text_string_to_metric_families(metrics_prom(report).decode())
    return {family.name: family.samples for family in families}


def test_the_numbers_are_those_of_the_report_and_only_failing_tests_have_series(report: FlakeReport) -> None:
    found = parsed(report)
    failing = [row for row in to_json(report)["tests"] if row["first_failures"] or row["victim_runs"]]
    assert len(failing) == 2
    for name, key, _meaning in TEST_METRICS:
        samples = found[f"flake_report_{name}"]
        assert [(sample.labels["test"], sample.value) for sample in samples] == [
            (row["test"], row[key]) for row in failing
        ]


def test_health_and_verdicts_are_counted(report: FlakeReport) -> None:
    found = parsed(report)
    assert [sample.value for sample in found["flake_report_jobs_lost"]] == [1]
    counted = {sample.labels["verdict"]: sample.value for sample in found["flake_report_tests"] if sample.value}
    assert counted == {"flaky": 1, "healthy": 2}
    assert found["flake_report_newest_build_seconds"][0].value == report.health.newest.timestamp()


def test_hostile_names_are_labels_and_nothing_else(report: FlakeReport) -> None:
    name = 'a"} 1\n# EOF\nflake_report_jobs 99 \\\u202e\\n'
    flaky = report.tests[0]
    hostile = flaky._replace(variant=flaky.variant._replace(test=flaky.variant.test._replace(name=name)))
    found = parsed(replace(report, tests=(hostile,)))
    assert found["flake_report_test_runs"][0].labels["test"] == f"v1.kv.test_x::{name}"
    assert [sample.value for sample in found["flake_report_jobs"]] == [160]


def test_incidents_and_what_was_lost_are_counted_and_an_empty_history_has_no_newest_build(report: FlakeReport) -> None:
    build = Build("acme", "ci", "7", 7, "c7", "main", "webhook", datetime(2026, 11, 1, tzinfo=UTC), "failed")
    struck = Incident(build, "0a-job", "free-memory", (report.tests[1].variant,), blame=Blame.GPU_MEMORY)
    lost = Cost(3, 1, 1.5, 0.25, None, 0.0, 0, 0, ())
    found = parsed(replace(report, incidents=(struck, replace(struck, job="0b-job")), cost=lost))
    (sample,) = found["flake_report_incidents"]
    assert (sample.labels, sample.value) == ({"blame": "gpu-memory", "signature": "free-memory"}, 2)
    assert [one.value for one in found["flake_report_lost_gpu_hours"]] == [1.75]
    empty = parsed(replace(report, tests=(), health=replace(report.health, newest=None)))
    assert "flake_report_newest_build_seconds" not in empty


def test_no_two_series_are_alike(report: FlakeReport) -> None:
    flaky = report.tests[0]
    other = flaky._replace(variant=flaky.variant._replace(session="pytest -m slow"))
    samples = parsed(replace(report, tests=(flaky, other)))["flake_report_test_runs"]
    assert len({json.dumps(sample.labels, sort_keys=True) for sample in samples}) == len(samples) == 2


def test_it_is_one_of_the_files(report: FlakeReport) -> None:
    assert FILES["metrics.prom"](report).endswith(b"\n# EOF\n")
