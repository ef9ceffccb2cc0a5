"""Each command end to end on a small real folder; the numbers are counted by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from flake_report.cli import COMMANDS, settle_threads
from flake_report.report.files import FILES


def test_explain_names_the_cause_the_line_and_the_numbers(run: Callable, red_log: Path) -> None:
    ran = run("explain", "--format", "json", red_log)
    [told] = json.loads(ran.out)["logs"]
    [cause] = told["causes"]
    assert (ran.status, told["log"], told["exit_status"]) == (0, str(red_log), 1)
    assert (cause["blame"], cause["line"], cause["count"]) == ("gpu-memory", 2, 1)
    captures = cause["captures"]
    assert captures["device"] == "cuda:0"
    assert [captures[name] for name in ("free_gib", "total_gib", "utilization", "requested_gib")] == [
        4.51, 22.05, 0.47, 10.36,
    ]  # fmt: skip


def test_explain_says_what_to_do(run: Callable, red_log: Path) -> None:
    out = run("explain", red_log).out
    assert "4.51 of 22.05 GiB free · asked 10.36 (utilization 0.47) · short by 5.85" in out
    assert "0.20 is the most that would have started" in out


def test_explain_reads_standard_input(red_log: Path) -> None:
    command = [sys.executable, "-m", "flake_report", "explain", "-"]
    piped = subprocess.run(command, input=red_log.read_bytes(), capture_output=True, check=True)
    assert "short by 5.85" in piped.stdout.decode()


def test_a_green_log_is_fine(run: Callable, home: Path) -> None:
    (home / "green.log").write_text("error: none\n===== 3 passed in 1.0s =====\n")
    ran = run("explain", "--format", "json", "green.log")
    assert ran.status == 0
    assert json.loads(ran.out)["logs"][0]["causes"] == []


def test_parse_counts_elements(run: Callable, results: Path) -> None:
    ran = run("parse", "--format", "json", results / "build-00" / "job" / "junit.xml")
    [told] = json.loads(ran.out)["files"]
    expected = {
        "suites": 1, "cases": 2, "passed": 1, "failed": 1, "errors": 0, "skipped": 0, "tests": 2, "reruns": 0,
    }  # fmt: skip
    assert {name: told[name] for name in expected} == expected
    assert told["complete"] is True


def test_ingest_then_show_tells_the_rate(run: Callable, results: Path) -> None:
    assert run("ingest", results).status == 0
    told = json.loads(run("show", "--format", "json").out)
    first, second = told["tests"]
    assert first["test"] == "test_a::test_bad"
    assert (first["runs"], first["first_failures"], first["rate"]) == (20, 5, 0.25)
    # Jeffreys: the quantiles of Beta(5.5, 15.5), found by summing its density over 400,000 steps.
    assert (round(first["low"], 4), round(first["high"], 4)) == (0.1024, 0.4642)
    assert (second["test"], second["first_failures"], second["victim_runs"]) == ("test_a::test_good", 0, 0)
    assert told["health"]["builds"] == 20


def test_ingesting_twice_changes_nothing(run: Callable, results: Path) -> None:
    run("ingest", results)
    before = run("show", "--format", "json").out
    run("ingest", results)
    assert run("show", "--format", "json").out == before


def test_since_counts_from_the_newest_build(run: Callable, results: Path) -> None:
    run("ingest", results)
    told = json.loads(run("show", "--format", "json", "--since", "7d").out)
    # Builds stand on 1 to 20 November at 06:00: seven days back from the 20th is the 13th, still included.
    assert told["tests"][0]["runs"] == 8


def test_a_filter_that_nothing_matches_says_so(run: Callable, results: Path) -> None:
    run("ingest", results)
    ran = run("show", "--format", "json", "--test", "no-such-test")
    assert json.loads(ran.out)["tests"] == []


def test_export_writes_the_numbers_of_show(run: Callable, results: Path) -> None:
    run("ingest", results)
    assert run("export", "out").status == 0
    shown = json.loads(run("show", "--format", "json").out)
    assert json.loads(Path("out/report.json").read_text()) == shown
    assert pq.read_table("out/tests.parquet").to_pylist() == shown["tests"]
    assert {path.name for path in Path("out").iterdir()} >= set(FILES)


def test_signatures_lists_the_table(run: Callable) -> None:
    rows = json.loads(run("signatures", "--format", "json").out)["signatures"]
    assert len(rows) >= 25
    assert all({"name", "blame", "pattern", "hint"} <= set(row) for row in rows)


def test_demo_tells_the_story_and_says_that_it_is_simulated(run: Callable, home: Path) -> None:
    ran = run("demo")
    assert ran.status == 0
    assert "simulated" in ran.out
    assert "short by 5.85" in ran.out
    assert "test_fewer_blocks_with_hma" in ran.out
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("command", list(COMMANDS))
def test_each_command_has_help_with_an_example(run: Callable, command: str) -> None:
    ran = run(command, "--help")
    assert ran.status == 0
    assert f"flake-report {command}" in ran.out.split("\n", 2)[2]


def test_help_lists_every_command(run: Callable) -> None:
    out = run("--help").out
    assert all(command in out for command in COMMANDS)


def test_help_loads_no_heavy_package() -> None:
    heavy = "{'duckdb', 'deltalake', 'pandas', 'pyarrow', 'scipy', 'numpy', 'hyperscan', 'lxml', 'requests', 'rich'}"
    program = (
        "import sys\nfrom flake_report.cli import main\nmain(['--help'])\n"
        f"print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "[]"


def test_explain_loads_nothing_of_the_store(red_log: Path) -> None:
    heavy = "{'duckdb', 'deltalake', 'pandas', 'pyarrow', 'scipy', 'numpy', 'requests'}"
    program = (
        f"import sys\nfrom flake_report.cli import main\nassert main(['explain', {str(red_log)!r}]) == 0\n"
        f"print(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "[]"
    assert "short by 5.85" in ran.stdout


def test_a_reader_that_goes_away_is_no_failure() -> None:
    command = f"{sys.executable} -m flake_report signatures | head -1; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "0"
    assert ran.stderr == ""


def test_a_full_disk_is_one_sentence(red_log: Path) -> None:
    command = [sys.executable, "-m", "flake_report", "explain", str(red_log)]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.returncode == 2
    assert "No space left" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_failed_test_that_no_cause_names_is_listed(run: Callable, red_log: Path) -> None:
    summary = (
        "============================= test session starts ==============================\n"
        "=========================== short test summary info ============================\n"
        "FAILED a.py::test_engine - RuntimeError: Engine core initialization failed. See root cause above.\n"
        "========================= 1 failed, 3 passed in 1.00s ==========================\n"
    )
    red_log.write_text(summary + red_log.read_text())
    [told] = json.loads(run("explain", "--format", "json", red_log).out)["logs"]
    assert told["unexplained"] == ["a.py::test_engine"]
    assert "1 more test failed, and this log does not say why" in run("explain", red_log).out


@pytest.mark.parametrize(("said", "kept"), [(None, "1"), ("4", "4")])
def test_no_threads_for_matrices_are_started_unless_somebody_asks_for_them(said, kept, monkeypatch) -> None:
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)  # of a process of its own
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", said or "")
    if said is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    settle_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == kept


def test_the_program_s_threads_take_turns_by_the_millisecond_and_nobody_else_s() -> None:
    """Others who call `main` keep what they have."""
    told = "import atexit, sys; atexit.register(lambda: print(sys.getswitchinterval())); from flake_report import cli; "
    call = "sys.argv = ['flake-report', '--version']; cli."
    for how, seconds in (("run()", 0.001), ("main(['--version'])", 0.005)):
        done = subprocess.run([sys.executable, "-c", f"{told}{call}{how}"], capture_output=True, text=True, check=True)
        assert float(done.stdout.split()[-1]) == seconds
