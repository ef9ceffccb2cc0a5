"""Logs of whole jobs: several sessions, their commands, sessions inside sessions, sessions that died."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flake_report.model.joblog import JobLog
from flake_report.model.results import Outcome
from flake_report.parse import pytestsession

Read = Callable[[bytes], JobLog]
PASSING = "def test_one(): pass\ndef test_two(): pass\n"
FAILING = "def test_one(): pass\ndef test_two(): assert 0\n"
ABORTING = "import os\ndef test_one(): pass\ndef test_two(): os.abort()\n"
STAMP = b"\x1b_bk;t=%d\x07"


def as_agent(log: bytes) -> bytes:
    """The log as the agent hands it on: a stamp at each line's start and after each colour, line ends doubled."""
    lines = log.replace(b"\x1b[0m", b"\x1b[0m" + STAMP % 1783974785649).split(b"\n")
    return b"\r\r\n".join(STAMP % (1783974785648 + number) + line for number, line in enumerate(lines))


def test_stamps_and_line_ends_of_the_agent_change_no_result(run_pytest: Callable[..., object], outline: Read) -> None:
    run = run_pytest("-v -s --color=yes", FAILING)
    plain, stamped = outline(run.log), outline(as_agent(run.log))
    assert [(a.test, a.outcome, a.text) for a in stamped.attempts] == [
        (a.test, a.outcome, a.text) for a in plain.attempts
    ]
    assert stamped.sessions == plain.sessions
    assert stamped.regions == plain.regions
    assert all(attempt.started_at is not None for attempt in stamped.attempts)


def test_three_sessions_in_one_log_each_with_its_command(run_pytest: Callable[..., object], outline: Read) -> None:
    first = run_pytest("-v", PASSING, name="test_first.py").log
    second = run_pytest("-v -s -k second", FAILING, name="test_second.py").log
    third = run_pytest("-q -k third", PASSING, name="test_third.py").log
    log = outline(
        b"+++ :test_tube: Command (1/3): pytest -v tests\n" + first
        + b"+++ :test_tube: Command (2/3): TOKENS=1 python3 -m pytest -v -s -k second tests\n" + second
        + b"+ pytest -q -k third tests\n" + third
        + "\x1b[31m🚨 Error: The command exited with status 1\x1b[0m\n^^^ +++\n".encode()
    )  # fmt: skip
    assert [(one.command, one.passed, one.failed, one.ended) for one in log.sessions] == [
        ("pytest -v tests", 2, 0, True),
        ("TOKENS=1 python3 -m pytest -v -s -k second tests", 1, 1, True),
        ("pytest -q -k third tests", 2, 0, True),
    ]
    assert [attempt.session for attempt in log.attempts] == ["1", "1", "2", "2"]
    assert {attempt.session_key for attempt in log.attempts} == {"pytest -v tests", "pytest -v -s -k second tests"}
    assert log.exit_status == 1
    assert log.sessions[1].failures == ("tests/deep/test_second.py::test_two",)


def test_one_script_line_names_the_sessions_in_order(run_pytest: Callable[..., object], outline: Read) -> None:
    run = run_pytest("-v", PASSING).log
    script = b"$ docker run --rm image:tag /bin/bash -xec 'cd tests && pytest -v a.py && pytest -v b.py; pytest c.py'\n"
    log = outline(script + run + run + run)
    assert [session.command for session in log.sessions] == ["pytest -v a.py", "pytest -v b.py", "pytest c.py"]


def test_equal_commands_of_one_job_are_told_apart(run_pytest: Callable[..., object], outline: Read) -> None:
    run = run_pytest("-v", PASSING).log
    log = outline((b"$ pytest -v\n" + run) * 2)
    assert {attempt.session_key for attempt in log.attempts} == {"pytest -v", "pytest -v #2"}


@pytest.mark.parametrize(
    "line",
    [
        "Requirement already satisfied: pytest in /usr/lib/python3",
        " + pytest==9.0.1",
        "plugins: xdist-3.8.0, pytest-cov",
        "run pytest with -v to see more",
        '  File "/site/_pytest/python.py", line 187, in pytest_pyfunc_call',
    ],
)
def test_talk_of_pytest_is_no_command(line: str, run_pytest: Callable[..., object], outline: Read) -> None:
    (session,) = outline(f"{line}\n".encode() + run_pytest("-v", PASSING).log).sessions
    assert session.command == ""


def test_a_test_that_runs_pytest_makes_no_session(run_pytest: Callable[..., object], outline: Read) -> None:
    source = (
        "import subprocess, sys\n"
        "def test_outer(tmp_path):\n"
        "    (tmp_path / 'test_in.py').write_text('def test_inner(): assert 0\\n')\n"
        "    subprocess.run([sys.executable, '-m', 'pytest', '-v', str(tmp_path)])\n"
        "    assert 0, 'outer'\n"
        "def test_after(): pass\n"
    )
    for options in ("-v", "-v -s"):
        log = outline(run_pytest(options, source).log)
        (session,) = log.sessions
        assert (session.passed, session.failed) == (1, 1), options
        assert {attempt.test.name for attempt in log.attempts} == {"test_outer", "test_after"}, options


def test_the_test_that_a_session_died_in_has_crashed(run_pytest: Callable[..., object], outline: Read) -> None:
    died, after = run_pytest("-v", ABORTING).log, run_pytest("-v", PASSING, name="test_next.py").log
    log = outline(b"$ pytest -v a\n" + died + b"\n$ pytest -v b\n" + after)
    assert [(session.command, session.ended) for session in log.sessions] == [
        ("pytest -v a", False),
        ("pytest -v b", True),
    ]
    crashed = [attempt for attempt in log.attempts if attempt.outcome is Outcome.CRASHED]
    assert [attempt.test.name for attempt in crashed] == ["test_two"]
    assert crashed[0].message == "Fatal Python error: Aborted"
    assert crashed[0].position == 1
    assert "no last line" in str(log.warnings[0])


def test_a_log_that_stops_does_not_say_that_a_test_crashed(run_pytest: Callable[..., object], outline: Read) -> None:
    whole = run_pytest("-v -s", FAILING).log
    cut = whole[: whole.index(b"test_two") + 9]
    assert {attempt.outcome for attempt in outline(cut).attempts} == {Outcome.PASSED}
    ended = cut + "\n🚨 Error: The command was interrupted by a signal: signal: killed\n".encode()
    log = outline(ended)
    assert log.signal == "killed"
    assert [attempt.outcome for attempt in log.attempts] == [Outcome.PASSED, Outcome.CRASHED]


def test_a_worker_s_crash_is_the_test_s(run_pytest: Callable[..., object], outline: Read) -> None:
    log = outline(run_pytest("-v -n 2", ABORTING).log)
    (crashed,) = [attempt for attempt in log.attempts if attempt.outcome is Outcome.CRASHED]
    assert crashed.test.name == "test_two"
    assert crashed.worker.startswith("gw")
    assert "crashed while running" in crashed.message


def test_a_module_that_cannot_be_collected_is_an_error(run_pytest: Callable[..., object], outline: Read) -> None:
    (attempt,) = outline(run_pytest("-v", "import no_such_module\n").log).attempts
    assert (attempt.outcome, attempt.phase) == (Outcome.ERROR, "collect")
    assert attempt.message == "ModuleNotFoundError: No module named 'no_such_module'"
    assert attempt.file == "tests/deep/test_everything.py"


def test_a_tail_of_a_log_gives_what_it_holds(run_pytest: Callable[..., object], outline: Read) -> None:
    whole = run_pytest("-v", FAILING).log
    tail = whole[whole.index(b"test_one") + 20 :]
    log = outline(tail)
    (session,) = log.sessions
    assert (session.passed, session.failed, session.command) == (1, 1, "")
    assert [attempt.test.name for attempt in log.attempts] == ["test_two"]


def test_lines_know_their_test(run_pytest: Callable[..., object], outline: Read) -> None:
    source = FAILING.replace("assert 0", "print('shown by two'); assert 0")
    for options, found in (("-v", 1), ("-v -s", 1)):
        run = run_pytest(options, source)
        log, lines = outline(run.log), run.log.decode().split("\n")
        nodeid = "tests/deep/test_everything.py::test_two"
        said = [number for number, line in enumerate(lines, 1) if line.endswith("shown by two")]
        assert len(said) == found
        failed = [number for number, line in enumerate(lines, 1) if "FAILED" in line or line.startswith("E   ")]
        assert {log.test_at(number) for number in (*said, *failed)} == {nodeid}, options
        assert log.test_at(1) is None
        assert log.test_at(len(lines)) is None


def test_memory_stays_flat_where_a_broken_job_repeats_a_line_for_ever(
    monkeypatch: pytest.MonkeyPatch, outline: Read
) -> None:
    monkeypatch.setattr(pytestsession, "KEPT_RESULTS", 500)
    log = outline(b"tests/a.py::test_x PASSED [ 50%]\n" * 1_000)
    assert log.lines == 1_000
    assert len(log.attempts) == 500
    assert str(log.warnings[0]) == "line 501: more than 500 result lines: the rest is left out"
