"""Rerun plugins, each in its own environment: what was tried is what is told, whatever the plugin hides."""

from __future__ import annotations

import pytest

# Tries are counted in files: a forked test, or a second process, must not start from the beginning.
SCRIPT = """
import pytest
from pathlib import Path

def tries(name):
    with Path(name).open("a") as file:
        file.write("x")
    return Path(name).stat().st_size

def test_recovers():
    n = tries("recovers")
    assert n == 3, f"try number {n}"

def test_never_passes():
    raise ValueError(f"try {tries('never')} of many")

def test_passes(): pass

@pytest.fixture
def shaky():
    if tries("setup") == 1:
        raise RuntimeError("set-up failed once")

def test_with_shaky_set_up(shaky): pass
"""

EXPECTED = {
    "test_recovers": ["failed", "failed", "passed"],
    "test_never_passes": ["failed", "failed", "failed"],
    "test_passes": ["passed"],
    "test_with_shaky_set_up": ["error", "passed"],
}

# pytest-retry never runs a set-up again; its first run is no retry.
RETRIED_CALLS = {**EXPECTED, "test_with_shaky_set_up": ["error"]}

WAYS = {
    "rerunfailures on the newest pytest": ("newest", ("rerunfailures",), ("--reruns=2",), EXPECTED),
    "rerunfailures on pytest 8": ("pytest 8", ("rerunfailures",), ("--reruns=2",), EXPECTED),
    "rerunfailures on pytest 7": ("pytest 7", ("rerunfailures",), ("--reruns=2",), EXPECTED),
    "rerunfailures on Python 3.9": ("python 3.9", ("rerunfailures",), ("--reruns=2",), EXPECTED),
    "rerunfailures over two workers": ("newest", ("rerunfailures", "xdist"), ("--reruns=2", "-n2"), EXPECTED),
    "rerunfailures over two workers on pytest 7": (
        "pytest 7",
        ("rerunfailures", "xdist"),
        ("--reruns=2", "-n2"),
        EXPECTED,
    ),
    "flaky": ("newest", ("flaky",), ("--force-flaky", "--max-runs=3"), EXPECTED),
    "flaky over two workers": ("newest", ("flaky", "xdist"), ("--force-flaky", "--max-runs=3", "-n2"), EXPECTED),
    "pytest-retry": ("newest", ("retry",), ("--retries=2",), RETRIED_CALLS),
    "pytest-retry over two workers": ("newest", ("retry", "xdist"), ("--retries=2", "-n2"), RETRIED_CALLS),
    "pytest-retry loaded after": ("newest", ("retry",), ("--retries=2", "-p", "gpu_guard.recorder"), RETRIED_CALLS),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_attempt_is_told(way, environment, runner_of):
    name, plugins, arguments, expected = WAYS[way]
    run = runner_of(environment(name)).run(SCRIPT, *arguments, "-p", "no:cacheprovider", plugins=plugins)
    assert {test: [line["outcome"] for line in run.of(test)] for test in expected} == expected, run.output
    assert [line["attempt"] for line in run.of("test_recovers")] == [0, 1, 2]
    assert [line["message"].splitlines()[0] for line in run.of("test_recovers")[:2]] == [
        "AssertionError: try number 1", "AssertionError: try number 2"
    ]  # fmt: skip
    assert all("try {tries('never')} of many" in line["traceback"] for line in run.of("test_never_passes"))
    assert len({line["fingerprint"] for line in run.of("test_never_passes")}) == 1
    assert run.lines[-1]["exit_status"] == run.code == 1


def test_marks_rerun_their_own_tests_alone(environment, runner_of):
    text = SCRIPT.replace("def test_recovers", "@pytest.mark.flaky(reruns=2)\ndef test_recovers")
    run = runner_of(environment("newest")).run(text, plugins=("rerunfailures",))
    assert [line["outcome"] for line in run.of("test_recovers")] == ["failed", "failed", "passed"]
    assert [line["outcome"] for line in run.of("test_never_passes")] == ["failed"]


def test_our_junit_has_each_test_once_with_the_text_of_all_its_failures(environment, runner_of):
    runner = runner_of(environment("newest"))
    run = runner.run(SCRIPT, "--reruns=2", "--junitxml=theirs.xml", plugins=("rerunfailures",))
    theirs = (runner.folder / "theirs.xml").read_text()
    assert "try number" not in theirs  # pytest's own file has lost it
    assert len(run.junit) == 4
    flaky = run.junit["test_recovers"].findall("flakyFailure")
    assert [child.get("message").splitlines()[0] for child in flaky] == [
        "AssertionError: try number 1", "AssertionError: try number 2"
    ]  # fmt: skip
    assert "try number 2" in flaky[1].findtext("stackTrace")
    assert run.junit["test_recovers"].find("failure") is None
    never = run.junit["test_never_passes"]
    assert "try 1" in never.find("failure").get("message")
    assert [
        "try 2" in child.get("message") or "try 3" in child.get("message") for child in never.findall("rerunFailure")
    ] == [True] * 2
    assert run.junit["test_with_shaky_set_up"].find("flakyError") is not None


def test_an_outcome_hook_that_ignores_reruns_reads_a_pass_where_we_tell_a_failure(environment, runner_of):
    hook = """
seen = []
def pytest_runtest_logreport(report):
    outcome = "unknown"
    if report.failed:
        outcome = "failed"
    elif report.when == "call":
        outcome = "passed"
    if report.when == "call" and "recovers" in report.nodeid:
        seen.append(outcome)
def pytest_sessionfinish():
    print("hook saw", seen)
"""
    files = {"conftest.py": hook, "test_it.py": SCRIPT}
    run = runner_of(environment("newest")).run(files, "--reruns=2", "-s", plugins=("rerunfailures",))
    assert "hook saw ['passed', 'passed', 'passed']" in run.output
    assert [line["outcome"] for line in run.of("test_recovers")] == ["failed", "failed", "passed"]


def test_buildkites_collector_loses_results_that_we_keep(environment, runner_of):
    import json

    runner = runner_of(environment("newest"))
    switch = "BUILDKITE_ANALYTICS_TOKEN"
    runner.extra_env[switch] = "none"
    run = runner.run(
        SCRIPT, "--reruns=2", "--json=theirs.json",
        plugins=("rerunfailures", "buildkite_test_collector.pytest_plugin"),
    )  # fmt: skip
    theirs = json.loads((runner.folder / "theirs.json").read_text())
    assert theirs, run.output
    assert {test.get("result") for test in theirs} == {None}
    assert [line["outcome"] for line in run.of("test_recovers")] == ["failed", "failed", "passed"]
