"""Every attempt of every test, as it happened, whatever a rerun plugin lets pytest say of it."""

from __future__ import annotations

OUTCOMES = """
import pytest

def test_passes(): pass

def test_fails(): assert 1 == 2, "not equal"

def test_is_skipped(): pytest.skip("not today")

@pytest.mark.xfail(reason="known")
def test_fails_as_expected(): raise ValueError("known")

@pytest.mark.xfail
def test_passes_unexpectedly(): pass

@pytest.mark.xfail(strict=True)
def test_passes_against_a_strict_mark(): pass

@pytest.fixture
def broken(): raise RuntimeError("no set-up")

def test_cannot_be_set_up(broken): pass

@pytest.fixture
def messy():
    yield
    raise RuntimeError("no teardown")

def test_cannot_be_torn_down(messy): pass

def test_fails_and_cannot_be_torn_down(messy): raise ValueError("in the call")
"""


def test_each_outcome_is_told_as_pytest_counts_it(runner):
    run = runner.run(OUTCOMES)
    told = {name: (outcome, run.of(name)[0]["phase"]) for name, _, outcome in run.told}
    assert told == {
        "test_passes": ("passed", "call"),
        "test_fails": ("failed", "call"),
        "test_is_skipped": ("skipped", "call"),
        "test_fails_as_expected": ("xfailed", "call"),
        "test_passes_unexpectedly": ("xpassed", "call"),
        "test_passes_against_a_strict_mark": ("failed", "call"),
        "test_cannot_be_set_up": ("error", "setup"),
        "test_cannot_be_torn_down": ("error", "teardown"),
        "test_fails_and_cannot_be_torn_down": ("failed", "call"),
    }


def test_a_failure_keeps_message_traceback_and_fingerprint(runner):
    (line,) = runner.run("def test_it():\n    print('seen on the way')\n    raise ValueError('bad size 7')\n").attempts
    assert line["message"] == "ValueError: bad size 7"
    assert "raise ValueError('bad size 7')" in line["traceback"]
    assert "seen on the way" in line["traceback"]
    assert line["fingerprint"] == "2d2c0d45a2d1311f"  # from the table that recorder and analyzer share


def test_a_teardown_that_fails_too_adds_its_text(runner):
    (line,) = runner.run(OUTCOMES, "-k", "fails_and_cannot").attempts
    assert line["message"] == "ValueError: in the call"
    assert "RuntimeError: no teardown" in line["traceback"]


def test_attempts_say_where_and_in_which_order_they_ran(runner):
    run = runner.run(OUTCOMES)
    assert [line["position"] for line in run.attempts] == list(range(9))
    assert {line["pid"] for line in run.attempts} == {run.lines[0]["pid"]}
    assert [line["started_at"] for line in run.attempts] == sorted(line["started_at"] for line in run.attempts)
    assert all(0 <= line["seconds"] < 5 for line in run.attempts)


def test_the_session_says_what_it_is_and_how_it_ended(runner):
    run = runner.run(
        "def test_it(): pass",
        "-v",
        "-k",
        "it or that",
        BUILDKITE_JOB_ID="0190-job",
        BUILDKITE_STEP_KEY="kv",
        PASSWORDS="x",
    )
    first, last = run.lines[0], run.lines[-1]
    assert first["job"] == "0190-job"
    assert first["command"] == "pytest -p gpu_guard.recorder -v -k 'it or that'"
    assert first["env"] == {"BUILDKITE_STEP_KEY": "kv", "CUDA_VISIBLE_DEVICES": ""}
    assert last["exit_status"] == run.code == 0
    (file,) = run.folder.glob("attempts-*.jsonl")
    assert file.name == f"attempts-0190-job-{first['session']}.jsonl"
    assert (run.folder / f"junit-0190-job-{first['session']}.xml").is_file()


def test_a_file_that_cannot_be_collected_is_an_error_of_its_own(runner):
    run = runner.run({"test_a.py": "import nothing_of_this_name", "test_b.py": "def test_it(): pass"})
    (line,) = run.attempts
    assert (line["nodeid"], line["outcome"], line["phase"]) == ("test_a.py", "error", "collect")
    assert line["message"].startswith("ImportError while importing test module")
    assert run.code == run.lines[-1]["exit_status"] == 2


def test_a_file_that_skips_itself_is_told(runner):
    run = runner.run(
        {"test_a.py": "import pytest\npytest.importorskip('nothing_of_this_name')", "test_b.py": "def test_it(): pass"}
    )
    assert [(line["nodeid"], line["outcome"]) for line in run.attempts] == [
        ("test_a.py", "skipped"), ("test_b.py::test_it", "passed")
    ]  # fmt: skip


def test_failed_subtests_fail_their_test(environment, runner_of):
    text = (
        "def test_it(subtests):\n    for n in range(3):\n        with subtests.test(n=n):\n            assert n != 1\n"
    )
    (line,) = runner_of(environment("newest")).run(text).attempts
    assert (line["outcome"], line["message"]) == ("failed", "assert 1 != 1")


def test_unittest_cases_are_tests_like_others(runner):
    text = """
import unittest
class TestIt(unittest.TestCase):
    def test_fails(self): self.assertEqual(1, 2)
    @unittest.skip("not today")
    def test_is_skipped(self): pass
    @unittest.expectedFailure
    def test_is_expected(self): self.fail()
"""
    run = runner.run(text)
    assert {name: outcome for name, _, outcome in run.told} == {
        "test_fails": "failed", "test_is_skipped": "skipped", "test_is_expected": "xfailed"
    }  # fmt: skip
    assert run.of("test_fails")[0]["message"] == "AssertionError: 1 != 2"


def test_parameters_may_hold_anything(runner):
    text = (
        "import pytest\n@pytest.mark.parametrize('x', ['a::b', 'ü/[', '\\x1b[31m', ''])\ndef test_it(x): assert not x\n"
    )
    run = runner.run(text)
    assert [line["outcome"] for line in run.attempts] == ["failed", "failed", "failed", "passed"]
    assert len(run.junit) == 4


def test_a_test_that_is_broken_off_has_no_outcome(runner):
    run = runner.run(
        "import pytest\ndef test_a(): pass\ndef test_b(): pytest.exit('enough', returncode=7)\ndef test_c(): pass\n"
    )
    assert run.told == [("test_a", 0, "passed")]
    assert run.lines[-1]["exit_status"] == run.code == 7


def test_very_long_output_is_cut_in_the_middle(runner):
    text = "def test_it():\n    print('FIRST' + 'x' * 500_000 + 'LAST')\n    assert 0, 'y' * 50_000\n"
    (line,) = runner.run(text).attempts
    assert len(line["traceback"]) < 200_000
    assert "characters left out" in line["traceback"]
    assert "LAST" in line["traceback"]
    assert line["message"].endswith("…")
