"""The pipeline is what Buildkite's own schema says a pipeline is, and its commands are real."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
import yaml

from flake_report.cli import COMMANDS

PIPELINE = Path(__file__).resolve().parent.parent / "pipeline.yml"


@pytest.fixture(scope="module")
def pipeline() -> dict:
    return yaml.safe_load(PIPELINE.read_text())


def validator() -> jsonschema.Draft7Validator:
    schema = json.loads(files("buildkite_sdk").joinpath("schema.json").read_text())
    return jsonschema.Draft7Validator(schema)


def test_it_is_valid_against_the_pipeline_schema(pipeline: dict) -> None:
    assert [error.message for error in validator().iter_errors(pipeline)] == []


def test_the_schema_refuses_a_broken_step(pipeline: dict) -> None:
    broken = {**pipeline, "steps": [{**pipeline["steps"][0], "timeout_in_minutes": "soon"}]}
    assert list(validator().iter_errors(broken)) != []


def test_it_lints_tests_and_reports_in_that_order(pipeline: dict) -> None:
    assert [step["key"] for step in pipeline["steps"]] == ["lint", "unit", "gpu", "annotate", "weekly"]


def test_the_gpu_step_is_guarded_and_retried_for_want_of_memory_or_agent_alone(pipeline: dict) -> None:
    (gpu,) = [step for step in pipeline["steps"] if step["key"] == "gpu"]
    assert list(gpu["plugins"][0]) == ["./ci/gpu-guard-buildkite-plugin"]
    assert (PIPELINE.parent / "ci" / "gpu-guard-buildkite-plugin" / "hooks").is_dir()
    assert [rule["exit_status"] for rule in gpu["retry"]["automatic"]] == [75, -1]


def test_a_gpu_that_is_not_seen_fails_the_gpu_step(pipeline: dict) -> None:
    (gpu,) = [step for step in pipeline["steps"] if step["key"] == "gpu"]
    assert gpu["env"] == {"GPU_TESTS": "require"}


def test_the_build_is_annotated_whatever_became_of_its_tests(pipeline: dict) -> None:
    (step,) = [step for step in pipeline["steps"] if step["key"] == "annotate"]
    assert step["depends_on"] == [{"step": key, "allow_failure": True} for key in ("unit", "gpu")]


def test_every_flake_report_command_in_it_exists(pipeline: dict) -> None:
    commands = [command for step in pipeline["steps"] for command in step["commands"]]
    used = re.findall(r"bin/flake-report (\w+)", "\n".join(commands))
    assert used
    assert set(used) <= set(COMMANDS)


def test_the_weekly_report_runs_on_a_schedule_even_when_tests_failed(pipeline: dict) -> None:
    (weekly,) = [step for step in pipeline["steps"] if step["key"] == "weekly"]
    assert 'build.source == "schedule"' in weekly["if"]
    assert weekly["depends_on"] == [{"step": "unit", "allow_failure": True}]
