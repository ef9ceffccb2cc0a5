"""`show` asked again: the same text without counting, until anything changes that it rests on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flake_report.store import Store, pages, program
from flake_report.store.rollups import FOLDER

FLAKE = "test_read_finishes_before_deadline"


@pytest.fixture
def store(home: Path, demo_store: Path) -> Path:
    """The demo's history, as the working folder's own store."""
    return Path(shutil.copytree(demo_store, home / "flake-report-store"))


@pytest.fixture
def counted(store: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A line for each time that histories are asked of a store; stores of any size keep pages."""
    asked: list[Path] = []
    real = Store.counts

    def watched(self, query):
        asked.append(store)
        return real(self, query)

    monkeypatch.setattr(Store, "counts", watched)
    monkeypatch.setattr(pages, "KEPT_ROWS", 1)
    monkeypatch.setattr(program, "_sources", lambda _: ())  # somebody may be working on them
    return asked


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--all",),
        ("--branch", "main"),
        ("--test", FLAKE),
        ("--format", "json"),
        ("--format", "markdown"),
        ("--format", "markdown", "--all"),
        ("--why", FLAKE),
        ("--why", FLAKE, "--all"),
        ("--why", FLAKE, "--format", "json"),
    ],
    ids=lambda arguments: " ".join(arguments) or "plain",
)
def test_the_second_answer_is_the_first_one_and_nothing_is_counted(arguments, counted, run, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(pages, "KEPT_ROWS", 10**9)
        expected = run("show", *arguments)
    counted.clear()
    assert run("show", *arguments) == expected
    assert len(counted) == 1
    assert run("show", *arguments) == expected
    assert len(counted) == 1
    assert expected.status == 0
    assert expected.out


def test_each_form_has_a_page_of_its_own(counted, run) -> None:
    forms = [(), ("--all",), ("--format", "json"), ("--format", "markdown"), ("--why", FLAKE), ("--test", FLAKE)]
    told = [run("show", *form).out for form in forms]
    assert len(set(told)) == len(counted) == len(forms)


def test_each_width_of_a_terminal_has_a_page_of_its_own(counted, run, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # taken for a terminal, whose width COLUMNS says
    told = {}
    for columns in (60, 100, 60, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        said = run("show", "--test", FLAKE).out
        assert told.setdefault(columns, said) == said
    assert len(counted) == 2
    assert max(map(len, told[60].splitlines())) < max(map(len, told[100].splitlines()))


def write_settings(text: str) -> Callable[[], object]:
    return lambda: Path("flake-report.toml").write_text(text)


def write_codeowners(text: str) -> Callable[[], object]:
    return lambda: Path("CODEOWNERS").write_text(text)


CHANGES = {
    "another budget": write_settings('[rates]\nbudget = "20%"\n'),
    "another branch": write_settings('[rates]\nbranch = "main"\n'),
    "a price": write_settings("[queues.gpu_1]\nprice_per_hour = 4.5\n"),
    "an owner in the settings": write_settings('[owners]\n"*" = "@acme/core"\n'),
    "an owner in CODEOWNERS": write_codeowners("* @acme/core\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_the_text_rests_on_changes_and_it_is_made_anew(change, counted, run, monkeypatch) -> None:
    before = run("show", "--all").out
    CHANGES[change]()
    with monkeypatch.context() as patched:
        patched.setattr(pages, "KEPT_ROWS", 10**9)
        expected = run("show", "--all").out
    counted.clear()
    assert [run("show", "--all").out for _ in range(2)] == [expected] * 2
    assert len(counted) == 1
    assert change == "a price" or expected != before


def test_owners_in_another_order_are_other_owners(counted, run) -> None:
    lines = ["* @acme/core", "*.py @acme/tests"]
    for order in (lines, lines[::-1]):
        write_codeowners("\n".join(order))()
        run("show")
    assert len(counted) == 2


def test_after_an_ingest_the_new_results_are_shown(counted, run, results) -> None:
    assert "test_a::test_bad" not in run("show").out
    assert run("ingest", results).status == 0
    assert "test_a::test_bad" in run("show").out
    assert "test_a::test_bad" in run("show").out
    assert len(counted) == 2


def test_what_is_not_read_of_a_codeowners_file_is_said_each_time(counted, run) -> None:
    write_codeowners("docs/[ab] @acme/docs\n")()
    warnings = [run("show").err for _ in range(2)]
    assert warnings[0] == warnings[1]
    assert "CODEOWNERS, line 1" in warnings[1]
    assert len(counted) == 1


def test_where_nothing_matches_the_status_is_1_each_time(counted, run, store) -> None:
    told = [run("show", "--branch", "none") for _ in range(2)]
    assert [ran.status for ran in told] == [1, 1]
    assert [run("show", "--why", "no_such_test").status for _ in range(2)] == [1, 1]
    assert len(counted) == 4
    assert not list((store / FOLDER).glob("page-*"))


def test_what_others_put_into_a_page_cannot_steer_the_terminal(counted, run, store) -> None:
    run("show")
    (place,) = (store / FOLDER).glob("page-*")
    pages._keep(place, "\x1b]0;title\x07 \x1b[2J\n")  # noqa: SLF001 - as a stranger would
    assert run("show").out == "\\x1b]0;title\\x07 \\x1b[2J\n"
    assert len(counted) == 1


PROGRAM = """
import sys
from flake_report.store import pages, program
pages.KEPT_ROWS = 1
program._sources = lambda _: ()
for name in sys.argv.pop().split():
    sys.modules[name] = None  # whoever imports it fails
from flake_report.cli import run
run()
"""


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("question", [("--all",), ("--why", FLAKE)], ids=lambda question: question[0])
def test_another_process_finds_the_page_and_loads_nothing_that_counts(question) -> None:
    def show(forbidden: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PROGRAM, "show", *question, forbidden]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    heavy = "duckdb pandas scipy flake_report.store.store flake_report.rate.rates"
    readers = "flake_report.flow flake_report.parse flake_report.classify flake_report.ingestion"
    assert show(heavy).returncode != 0, "they are needed to count"
    first = show(readers)  # nor does the one that counts read any evidence
    assert (first.returncode, first.stderr) == (0, "")
    again = show(f"{heavy} {readers}")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == first.stdout
    assert FLAKE in first.stdout


def test_two_processes_that_make_the_same_page_at_once_do_not_meet(store) -> None:
    command = [sys.executable, "-c", PROGRAM, "show", "--all", ""]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "ab"]
    told = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert told[0] == told[1]
    assert len(list((store / FOLDER).iterdir())) == 1
