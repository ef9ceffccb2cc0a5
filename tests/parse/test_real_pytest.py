"""Real runs of pytest with pytest-rerunfailures, alone and over workers: the attempts read back equal the script."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from flake_report.model.results import Attempt, ReportSummary
from flake_report.parse.reports import read_report

SCRIPT = """
import os, pathlib, pytest

STATE = pathlib.Path(os.environ["SCRIPT_STATE"])

def attempt(name):
    with (STATE / name).open("a") as file:
        file.write("x")
    return len((STATE / name).read_text())

def test_pass(): pass
def test_fail_fail_pass(): assert attempt("ffp") == 3, "not <yet> & so on"
def test_fail_fail_fail(): raise ValueError("never")

@pytest.fixture
def late():
    if attempt("late") < 2: raise RuntimeError("set-up broke")

def test_setup_recovers(late): pass

@pytest.fixture
def leaky():
    yield
    raise RuntimeError("teardown broke")

def test_teardown(leaky): pass
def test_call_and_teardown(leaky): assert 0, "call broke"

@pytest.mark.xfail(reason="known")
def test_xfail(): assert 0
@pytest.mark.skip(reason="no GPU")
def test_skip(): pass

class TestGroup:
    @pytest.mark.parametrize("value", ["a::b", "x/y", "[z]"])
    def test_parameters(self, value): pass
"""
OUTCOMES = {
    "test_pass": "passed",
    "test_fail_fail_pass": "failed failed passed",
    "test_fail_fail_fail": "failed failed failed@call",
    "test_setup_recovers": "failed passed",
    "test_teardown": "failed failed error@teardown",
    "test_call_and_teardown": "failed failed failed@call",
    "test_xfail": "xfailed",
    "test_skip": "skipped",
    "TestGroup::test_parameters[a::b]": "passed",
    "TestGroup::test_parameters[x/y]": "passed",
    "TestGroup::test_parameters[[z]]": "passed",
}


def run(folder: Path, script: str, *options: str) -> tuple[ReportSummary, dict[str, str], list[Attempt]]:
    """The file that pytest wrote, read: outcomes of each test by the name it has in the script."""
    (folder / "state").mkdir()
    (folder / "tests").mkdir()
    (folder / "tests" / "test_script.py").write_text(script)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml=out.xml", *options, "tests"]
    environment = {**os.environ, "SCRIPT_STATE": str(folder / "state"), "PYTEST_ADDOPTS": ""}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=300)
    attempts: list[Attempt] = []
    summary = read_report("out.xml", [(folder / "out.xml").read_bytes()], attempts.append)
    tests: dict[str, list[str]] = defaultdict(list)
    for one in attempts:
        group = one.test.classname.removeprefix("test_script").removeprefix(".")
        phase = f"@{one.phase}" if one.phase else ""
        tests[f"{group}::{one.test.name}" if group else one.test.name].append(f"{one.outcome}{phase}")
    return summary, {name: " ".join(outcomes) for name, outcomes in tests.items()}, attempts


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--reruns=2"], id="in one process"),
        pytest.param(["--reruns=2", "-n2"], id="over two workers"),
        pytest.param(["--reruns=2", "-o", "junit_family=xunit1", "-o", "junit_logging=all"], id="the older form"),
        pytest.param(["--reruns=2", "-o", "junit_suite_name=mine"], id="a suite of another name"),
    ],
)
def test_the_attempts_read_back_are_the_script_s(tmp_path: Path, options: list[str]) -> None:
    summary, tests, attempts = run(tmp_path, SCRIPT, *options)
    assert tests == OUTCOMES
    assert all(attempt.known for attempt in attempts)
    assert (summary.complete, summary.tests, summary.reruns, summary.flaky) == (True, 11, 9, 2)
    final = next(one for one in attempts if one.test.name == "test_fail_fail_fail" and one.number == 2)
    assert final.message == "ValueError: never"
    assert "def test_fail_fail_fail" in final.text


def test_without_reruns_each_test_has_one_attempt(tmp_path: Path) -> None:
    summary, tests, attempts = run(tmp_path, SCRIPT)
    assert tests == {
        **dict.fromkeys(OUTCOMES, "passed"),
        "test_fail_fail_pass": "failed@call",
        "test_fail_fail_fail": "failed@call",
        "test_setup_recovers": "error@setup",
        "test_teardown": "error@teardown",
        "test_call_and_teardown": "failed@call",
        "test_xfail": "xfailed",
        "test_skip": "skipped",
    }
    assert (summary.reruns, summary.flaky) == (0, 0)
    both = next(one for one in attempts if one.test.name == "test_call_and_teardown")
    assert "call broke" in both.text
    assert "teardown broke" in both.text
    assert "not <yet> & so on" in next(one for one in attempts if one.test.name == "test_fail_fail_pass").message


CRASHES = """
import os, pathlib
def test_pass(): pass
def test_crash():
    with (pathlib.Path(os.environ["SCRIPT_STATE"]) / "crashes").open("a") as file:
        file.write("x")
    os._exit(3)
"""


def test_a_crashed_worker_is_a_crash(tmp_path: Path) -> None:
    _summary, tests, attempts = run(tmp_path, CRASHES, "-n2")
    assert tests == {"test_pass": "passed", "test_crash": "crashed"}
    assert all(attempt.known for attempt in attempts)


def test_a_crash_that_was_rerun_leaves_no_name_so_attempts_are_unknown(tmp_path: Path) -> None:
    for go in range(5):  # whether the plugin learns of the crash in time to run the test again is a race of its own
        folder = tmp_path / str(go)
        folder.mkdir()
        summary, tests, attempts = run(folder, CRASHES, "-n2", "--reruns=1")
        assert tests == {"test_pass": "passed", "test_crash": "crashed"}
        if (folder / "state" / "crashes").read_text() == "xx":
            break
        assert all(attempt.known for attempt in attempts)
    else:
        pytest.fail("the plugin never ran the crash again")
    assert not any(attempt.known for attempt in attempts)
    assert "attempts without a name" in str(summary.warnings[0])


SUBTESTS = """
from itertools import count
tried = count(1)
def test_subtests_good(subtests):
    for number in range(3):
        with subtests.test(number=number): pass
def test_subtests_bad(subtests):
    for number in range(3):
        with subtests.test(number=number): assert number == 1
def test_fail_fail_pass(): assert next(tried) == 3
"""


@pytest.mark.skipif(int(pytest.__version__.split(".")[0]) < 9, reason="pytest has subtests of its own since 9")
def test_subtests_are_not_attempts_and_hide_reruns_that_pytest_counts_over(tmp_path: Path) -> None:
    _summary, tests, attempts = run(tmp_path, SUBTESTS, "--reruns=2")
    assert tests["test_subtests_good"] == "passed"
    assert set(tests["test_subtests_bad"].split()) == {"failed@call"}
    flaky = [one for one in attempts if one.test.name == "test_fail_fail_pass"]
    # pytest counted so many passed subtests that nothing is left over to prove the reruns: only the last is told.
    assert [(one.outcome.value, one.known) for one in flaky] == [("passed", False)]
