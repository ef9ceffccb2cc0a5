"""A history for Prometheus and whatever else reads OpenMetrics text, version 1.0.

Format: <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>. Every metric is a gauge:
each export looks back over a window of its own, so that nothing only grows. Tests that never failed have no series of
their own: they are counted in `flake_report_tests`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flake_report.model.report import FlakeReport
from flake_report.model.verdict import TestVerdict

from . import incidents
from .history import row

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
"""What a server must call the file."""

PREFIX = "flake_report"

TEST_METRICS = (
    ("test_runs", "own_runs", "Runs with an own attempt, outside breakages."),
    ("test_first_failures", "first_failures", "Of those, runs whose first own attempt failed."),
    ("test_first_failure_ratio", "rate", "First failures / runs."),
    ("test_first_failure_ratio_low", "low", "Lower end of its 95 % interval."),
    ("test_first_failure_ratio_high", "high", "Upper end of its 95 % interval."),
    ("test_victim_runs", "victim_runs", "Runs that the environment failed."),
    ("test_environment_ratio", "env_rate", "Victim runs / all runs."),
)
"""Of each test that failed: the metric, the key of its row in `report.json`, and what it means."""

TEST_LABELS = ("test", "apart", "step", "queue", "session", "verdict", "owner")
"""Keys of a row that tell its series from others."""

Labels = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with its samples; `unit` is the last part of its name where it has one."""

    name: str
    meaning: str
    samples: Sequence[tuple[Labels, float | int]]
    unit: str = ""

    def lines(self) -> Iterator[str]:
        name = f"{PREFIX}_{self.name}"
        yield f"# TYPE {name} gauge"
        if self.unit:
            yield f"# UNIT {name} {self.unit}"
        yield f"# HELP {name} {_escaped(self.meaning)}"
        for labels, value in self.samples:
            told = ",".join(f'{key}="{_escaped(str(text))}"' for key, text in labels.items())
            yield f"{name}{{{told}}} {value!r}" if told else f"{name} {value!r}"


def metrics_prom(report: FlakeReport) -> bytes:
    """The whole file, to its last line."""
    lines = [line for family in _families(report) for line in family.lines()]
    return "\n".join([*lines, "# EOF", ""]).encode("utf-8", "replace")


def _families(report: FlakeReport) -> Iterator[Family]:
    health = report.health
    for name, meaning, value in (
        ("builds", "Builds that were looked at.", health.builds),
        ("jobs", "Jobs that were looked at.", health.jobs),
        ("jobs_lost", "Jobs that did not end by themselves.", health.jobs_lost),
        ("jobs_without_results", "Jobs without any test result.", health.jobs_without_results),
        ("attempts", "Attempts of tests.", health.attempts),
        ("attempts_unknown", "Attempts whose order is not known.", health.attempts_unknown),
        ("budget_ratio", "The first-failure ratio that a test may have.", report.budget),
    ):
        yield Family(name, meaning, [({}, value)])
    if health.newest is not None:
        newest = health.newest.timestamp()
        yield Family("newest_build_seconds", "When the newest build was made, Unix time.", [({}, newest)], "seconds")
    yield from _verdicts(report)
    yield from _incidents(report)
    if report.cost is not None:
        yield Family("lost_gpu_hours", "GPU-hours lost to failures that were no regression.", [({}, report.cost.hours)])
    rows = [row(test) for test in report.tests if test.troubled]
    for name, key, meaning in TEST_METRICS:
        yield Family(name, meaning, list(_samples(rows, key)))


def _verdicts(report: FlakeReport) -> Iterator[Family]:
    counted = Counter(test.verdict for test in report.tests)
    yield Family("tests", "Test variants.", [({"verdict": one.value}, counted[one]) for one in TestVerdict])


def _incidents(report: FlakeReport) -> Iterator[Family]:
    counted: Counter[tuple[object, object]] = Counter()
    for incident in map(incidents.to_json, report.incidents):
        counted[incident["blame"], incident["signature"]] += 1
    samples = [
        ({"blame": blame, "signature": signature}, many)
        for (blame, signature), many in sorted(counted.items(), key=str)
    ]
    yield Family("incidents", "Failures by the environment, each counted once.", samples)


def _samples(rows: Iterable[dict[str, object]], key: str) -> Iterator[tuple[Labels, float | int]]:
    for told in rows:
        value = told[key]
        if isinstance(value, int | float):
            yield {name: told[name] for name in TEST_LABELS}, value


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
