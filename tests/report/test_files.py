"""The data files: read back with other tools, they hold the same numbers."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from flake_report.model.evidence import Build
from flake_report.model.failure import Blame
from flake_report.model.incident import Incident
from flake_report.model.report import FlakeReport
from flake_report.report.files import FILES
from flake_report.report.history import COLUMNS

BUILD = Build("acme", "ci", "7", 7, "c7", "main", "webhook", datetime(2026, 11, 1, tzinfo=UTC), "failed")


def test_each_file_has_a_name_by_which_it_is_known() -> None:
    assert list(FILES) == [
        "report.json", "tests.csv", "tests.parquet", "incidents.csv", "metrics.prom", "flakes.junit.xml", "flakes.json",
    ]  # fmt: skip


def test_json_csv_and_parquet_agree_in_every_cell(report: FlakeReport) -> None:
    told = json.loads(FILES["report.json"](report))["tests"]
    table = pq.read_table(io.BytesIO(FILES["tests.parquet"](report))).to_pylist()
    lines = list(csv.DictReader(io.StringIO(FILES["tests.csv"](report).decode())))
    assert told == table
    assert [{name: plain(value) for name, value in one.items()} for one in told] == [
        {name: value.removeprefix("'") for name, value in line.items()} for line in lines
    ]


def plain(value: object) -> str:
    """A value as a cell of text: a list of things is JSON."""
    return json.dumps(value, separators=(",", ":")) if isinstance(value, list) else str(value)


def test_a_breakage_is_told_with_the_builds_that_bound_it_and_their_pages(report: FlakeReport) -> None:
    (broke,) = json.loads(FILES["report.json"](report))["tests"][0]["breakages"]
    assert broke["good"] == {"build": "11", "commit": "c11", "url": "https://buildkite.com/acme/ci/builds/11"}
    assert broke["url"] == "https://buildkite.com/acme/ci/builds/12#job-1"
    assert broke["mended"] is None


def test_the_numbers_are_those_of_the_history(report: FlakeReport) -> None:
    first = json.loads(FILES["report.json"](report))["tests"][0]
    assert list(first) == list(COLUMNS)
    assert first["test"] == "v1.kv.test_x::test_flaky[a]"
    assert (first["runs"], first["first_failures"], first["rate"]) == (80, 4, 0.05)
    assert (first["victim_runs"], first["env_rate"]) == (0, 0.0)


def test_window_and_health_are_plain_values(report: FlakeReport) -> None:
    told = json.loads(FILES["report.json"](report))
    assert told["window"] == {"since": "2026-10-05T00:00:00Z", "until": "2026-11-29T06:12:00Z", "branch": "main"}
    assert told["health"]["newest"] == "2026-11-29T06:12:00Z"
    assert told["health"]["jobs"] == 160


def test_a_cell_that_a_spreadsheet_would_run_is_made_inert(report: FlakeReport) -> None:
    assert ",'=victim()," in FILES["tests.csv"](report).decode()


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r", "\n=", " =", "＝", "＋", "－", "＠"])
def test_whatever_a_spreadsheet_takes_for_the_start_of_a_formula_is_led_by_an_apostrophe(
    report: FlakeReport, sign: str
) -> None:
    test = report.tests[0]
    name = f"{sign}cmd|'/c calc'!A1,\"x\""
    hostile = test._replace(variant=test.variant._replace(test=test.variant.test._replace(name=name), step=name))
    (line,) = csv.DictReader(io.StringIO(FILES["tests.csv"](replace(report, tests=(hostile,))).decode(), newline=""))
    assert (line["name"], line["step"]) == (f"'{name}", f"'{name}")


def test_incidents_agree_in_json_and_csv(report: FlakeReport) -> None:
    variant = report.tests[1].variant
    incident = Incident(BUILD, "0a-job", "free-memory", (variant,), blame=Blame.GPU_MEMORY, agent="-a", host='h,"1')
    with_one = replace(report, incidents=(incident,))
    (told,) = json.loads(FILES["report.json"](with_one))["incidents"]
    (line,) = csv.DictReader(io.StringIO(FILES["incidents.csv"](with_one).decode(), newline=""))
    assert line == {name: "" if value is None else plain(value) for name, value in told.items()} | {"agent": "'-a"}
    assert json.loads(line["victims"]) == ["v1.kv.test_x::=victim()"]
