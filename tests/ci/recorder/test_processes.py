"""Tests that run in other processes, and processes that die: what is known is told, once, and survives."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest

CRASH = """
import os, signal

def test_before(): pass

def test_crashes(): os.kill(os.getpid(), signal.SIGKILL)

def test_after(): pass
"""


def test_workers_send_their_attempts_to_the_controller(runner):
    run = runner.run(
        "import pytest\n@pytest.mark.parametrize('n', range(8))\ndef test_it(n): assert n != 3\n",
        "-n2",
        plugins=("xdist",),
    )
    assert sorted(name for name, _, _ in run.told) == [f"test_it[{n}]" for n in range(8)]
    assert run.of("test_it[3]")[0]["outcome"] == "failed"
    assert {line["worker"] for line in run.attempts} <= {"gw0", "gw1"}
    for worker in ("gw0", "gw1"):
        mine = [line for line in run.attempts if line["worker"] == worker]
        assert [line["position"] for line in mine] == list(range(len(mine)))
        assert len({line["pid"] for line in mine}) <= 1
    assert run.lines[0]["pid"] not in {line["pid"] for line in run.attempts}


def test_a_worker_that_dies_has_its_test_told_as_crashed(runner):
    run = runner.run(CRASH, "-n1", plugins=("xdist",))
    assert sorted(run.told) == [
        ("test_after", 0, "passed"),
        ("test_before", 0, "passed"),
        ("test_crashes", 0, "crashed"),
    ]
    (crash,) = run.of("test_crashes")
    (before,) = run.of("test_before")
    assert crash["message"] == "worker 'gw0' crashed while running 'test_it.py::test_crashes'"
    assert (crash["worker"], crash["pid"], crash["position"]) == ("gw0", before["pid"], 1)
    assert crash["started_at"] > before["started_at"]
    assert run.junit["test_crashes"].find("error") is not None


def test_a_crash_that_is_run_again_is_one_attempt_of_two(runner):
    text = CRASH.replace(
        "def test_crashes():",
        "def test_crashes():\n    if os.path.exists('again'): return\n    open('again', 'w').close()\n   ",
    )
    run = runner.run(text, "-n1", "--reruns=1", plugins=("xdist", "rerunfailures"))
    assert [line["outcome"] for line in run.of("test_crashes")] == ["crashed", "passed"]
    assert [line["attempt"] for line in run.of("test_crashes")] == [0, 1]
    assert [line["outcome"] for line in run.of("test_before")] == ["passed"]
    assert run.code == 0


def test_a_worker_that_dies_keeps_the_attempts_before(environment, runner_of):
    """Under rerunfailures an attempt is reported only when it is over: the one before must be on its way by then."""
    text = """
import os, signal
def test_it():
    with open('tries', 'a') as file: file.write('x')
    if os.path.getsize('tries') == 2: os.kill(os.getpid(), signal.SIGKILL)
    assert os.path.getsize('tries') == 3
"""
    run = runner_of(environment("newest")).run(text, "-n1", "--reruns=3", plugins=("xdist", "rerunfailures"))
    assert [line["outcome"] for line in run.of("test_it")] == ["failed", "crashed", "passed"]


def test_a_group_for_a_worker_makes_no_other_test(runner):
    text = """
import pytest
pytestmark = pytest.mark.xdist_group("one")
def test_it(): pass
def test_bad(): assert 0
"""
    run = runner.run(text, "-n2", "--dist=loadgroup", plugins=("xdist",))
    assert sorted(line["nodeid"] for line in run.attempts) == ["test_it.py::test_bad", "test_it.py::test_it"]


def test_tests_that_every_worker_runs_are_no_reruns(runner):
    run = runner.run("def test_it(): pass\n", "--dist=each", "--tx=2*popen", plugins=("xdist",))
    assert sorted((line["worker"], line["attempt"]) for line in run.attempts) == [("gw0", 0), ("gw1", 0)]
    assert run.lines[0]["dist"] == "each"


def test_only_where_workers_are_runs_of_their_own_the_first_line_says_so(runner):
    run = runner.run("def test_it(): pass\n", "-n2", plugins=("xdist",))
    assert "dist" not in run.lines[0]


def test_a_file_that_no_worker_can_collect_is_told_once(runner):
    run = runner.run({"test_a.py": "1 / 0", "test_b.py": "def test_it(): pass"}, "-n2", plugins=("xdist",))
    assert [line["nodeid"] for line in run.attempts if line["outcome"] == "error"] == ["test_a.py"]


@pytest.mark.parametrize("name", ["pytest 8", "pytest 7"])  # pytest-forked 1.7.5 runs no test under pytest 9.2
def test_forked_tests_are_told_from_outside(name, environment, runner_of):
    text = CRASH + "\ndef test_fails(): raise ValueError('in the child')\n"
    run = runner_of(environment(name)).run(text, "--forked", plugins=("forked",))
    assert run.told == [
        ("test_before", 0, "passed"), ("test_crashes", 0, "crashed"), ("test_after", 0, "passed"),
        ("test_fails", 0, "failed"),
    ]  # fmt: skip
    assert "CRASHED with signal 9" in run.of("test_crashes")[0]["message"]
    assert run.of("test_fails")[0]["message"] == "ValueError: in the child"
    children = {line["pid"] for line in run.attempts if "pid" in line}
    assert len(children) == 3
    assert run.lines[0]["pid"] not in children


def test_forked_tests_of_workers_are_told_too(environment, runner_of):
    run = runner_of(environment("pytest 8")).run(CRASH, "--forked", "-n2", plugins=("forked", "xdist"))
    assert sorted(run.told) == [
        ("test_after", 0, "passed"),
        ("test_before", 0, "passed"),
        ("test_crashes", 0, "crashed"),
    ]


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["plain", "two workers"])
def test_a_session_that_is_killed_keeps_what_it_had(workers, runner):
    text = (
        "import time\n"
        + "".join(f"def test_{n}(): pass\n" for n in range(6))
        + "def test_zz(): open('reached', 'w'); time.sleep(60)\n"
    )
    runner.write({"test_it.py": text})
    plugins = ("xdist",) if workers else ()
    process = subprocess.Popen(
        runner.command(*workers, plugins=plugins), cwd=runner.folder, env=runner.environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not (runner.folder / "reached").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)  # the other worker's last report
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    (file,) = runner.record.glob("attempts-*.jsonl")
    lines = file.read_text().splitlines()
    assert sum('"outcome":"passed"' in line for line in lines) == 6
    assert "exit_status" not in lines[-1]
    assert not list(runner.record.glob("junit-*.xml"))


def test_a_crash_of_a_plain_session_keeps_what_it_had(runner):
    run = runner.run(CRASH)
    assert run.code == -signal.SIGKILL
    assert run.told == [("test_before", 0, "passed")]
    assert "exit_status" not in run.lines[-1]
