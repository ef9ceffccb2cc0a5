"""Whatever is wrong with the input: one sentence that names it, the right exit status, no traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flake_report.cli import COMMANDS


def said(ran: object) -> str:
    """The one sentence, after asserting that there is no traceback."""
    assert "Traceback" not in ran.err
    assert ran.err.strip() != ""
    return ran.err


@pytest.mark.parametrize("command", ["explain", "parse"])
def test_a_missing_file_is_named_and_the_others_are_read(run: Callable, red_log: Path, command: str) -> None:
    ran = run(command, "--format", "json", "missing.file", red_log)
    assert ran.status == 2
    assert "missing.file" in said(ran)
    [read] = json.loads(ran.out).popitem()[1]
    assert str(red_log) in read.values()


@pytest.mark.parametrize("command", ["explain", "parse"])
def test_a_folder_in_place_of_a_file_is_refused(run: Callable, home: Path, command: str) -> None:
    ran = run(command, home)
    assert ran.status == 2
    assert str(home) in said(ran)


def test_a_file_that_is_no_report_is_named_as_what_it_seems(run: Callable, home: Path) -> None:
    (home / "page.xml").write_text("<!DOCTYPE html><html><body>404</body></html>")
    ran = run("parse", "page.xml")
    assert ran.status == 1
    assert "page.xml" in said(ran)
    assert "html" in ran.out


def test_a_foreign_file_beside_a_report_is_only_a_warning(run: Callable, results: Path) -> None:
    (results / "notes.xml").write_text("no xml at all")
    ran = run("parse", results / "notes.xml", results / "build-01" / "job" / "junit.xml")
    assert ran.status == 0
    assert "notes.xml" in said(ran)


@pytest.mark.parametrize(("source", "status"), [("empty", 1), ("nowhere", 2), ("a-file.xml", 2)])
def test_what_is_no_source_has_nothing_to_ingest_and_leaves_no_store(
    run: Callable, home: Path, source: str, status: int
) -> None:
    (home / "empty").mkdir()
    (home / "a-file.xml").write_text("<testsuites/>")
    ran = run("ingest", source)
    assert ran.status == status
    assert source in said(ran)
    assert {path.name for path in home.iterdir()} == {"empty", "a-file.xml"}


def test_a_missing_source_is_named_and_the_others_are_ingested(run: Callable, results: Path) -> None:
    ran = run("ingest", "--format", "json", "nowhere", results)
    assert ran.status == 2
    assert "nowhere" in said(ran)
    assert json.loads(ran.out)["jobs"] == 20


def test_a_damaged_report_is_a_warning_and_the_rest_is_stored(run: Callable, results: Path) -> None:
    path = results / "build-03" / "job" / "junit.xml"
    path.write_text(path.read_text()[:150])
    ran = run("ingest", results)
    assert ran.status == 0
    assert "20 jobs" in ran.out
    assert "warning" in ran.out


def test_a_store_that_is_not_there_is_named(run: Callable, home: Path) -> None:
    ran = run("show", "--store", "no-store")
    assert ran.status == 2
    assert "no-store" in said(ran)
    assert not (home / "no-store").exists()


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    "command",
    [("ingest", "results"), ("show",), ("export", "site"), ("store", "info"), ("explain", "a.log")],
    ids=" ".join,
)
def test_an_empty_path_of_a_store_is_not_the_default_one(run: Callable, home: Path, command: tuple[str, ...]) -> None:
    ran = run(*command, "--store", "")
    assert ran.status == 2
    assert "--store" in said(ran)
    assert "name a store, or leave the option out" in ran.err
    assert [path.name for path in home.iterdir()] == ["results"]


@pytest.mark.parametrize("command", [("ingest", "results"), ("show",)], ids=["ingest", "show"])
def test_a_folder_that_is_no_store_is_left_alone(run: Callable, results: Path, command: tuple[str, ...]) -> None:
    mine = results.parent / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    ran = run(*command, "--store", mine)
    assert ran.status == 2
    assert "mine" in said(ran)
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("command", ["show", "export"])
def test_an_unknown_span_says_what_a_span_is(run: Callable, command: str) -> None:
    ran = run(command, *(["out"] if command == "export" else []), "--since", "yesterday")
    assert ran.status == 2
    assert "4w" in said(ran)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("command", list(COMMANDS))
def test_an_unknown_option_is_refused(run: Callable, command: str) -> None:
    ran = run(command, "--no-such-option")
    assert ran.status == 2
    assert "--no-such-option" in said(ran)


def test_an_unknown_command_is_refused(run: Callable) -> None:
    ran = run("expalin")
    assert ran.status == 2
    assert "expalin" in said(ran)


def test_an_unknown_setting_names_the_nearest_one(run: Callable, results: Path) -> None:
    (results.parent / "flake-report.toml").write_text('[store]\npaht = "x"\n')
    ran = run("ingest", results)
    assert ran.status == 2
    assert "paht" in said(ran)
    assert "path" in ran.err


def test_a_folder_that_cannot_be_written_to_is_named(run: Callable, results: Path) -> None:
    run("ingest", results)
    (results.parent / "taken").write_text("a file")
    ran = run("export", "taken")
    assert ran.status == 2
    assert "taken" in said(ran)


def test_a_users_signature_with_a_broken_pattern_is_named(run: Callable, home: Path, red_log: Path) -> None:
    (home / "mine.toml").write_text(
        "[[signature]]\nname='mine'\ntitle='t'\nblame='infra'\npattern='('\nhint='h'\nexample='('\nsource='s'\n"
    )
    for arguments in (("signatures", "--check", "mine.toml"), ("explain", "--signatures", "mine.toml", red_log)):
        ran = run(*arguments)
        assert ran.status == 2
        assert "mine" in said(ran)


@pytest.mark.parametrize("data", [b"", bytes(range(128, 256)) * 40], ids=["empty", "binary"])
def test_a_log_that_holds_nothing_to_explain_is_no_success(run: Callable, home: Path, data: bytes) -> None:
    (home / "x.log").write_bytes(data)
    ran = run("explain", "x.log")
    assert ran.status == 1
    assert "x.log" in said(ran)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("span", ["0d", "99999w", "-1d", "1.5w"])
def test_a_span_that_means_nothing_is_refused(run: Callable, span: str) -> None:
    assert run("show", "--since", span).status == 2


def test_a_name_from_a_report_cannot_steer_the_terminal(run: Callable, results: Path) -> None:
    evil = "t&#27;]0;PWNED&#7;&#27;[2J\x9b\u202e"
    for report in results.rglob("junit.xml"):
        report.write_text(report.read_text().replace('"test_bad"', f'"{evil}"'), encoding="utf-8")
    run("ingest", results)
    for form in ("text", "json"):
        out = run("show", "--format", form).out
        assert "PWNED" in out
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out)


def test_a_damaged_archive_of_bytes_is_named(run: Callable, home: Path) -> None:
    (home / "build.log.gz").write_bytes(b"\x1f\x8b\x08\x00damaged")
    ran = run("explain", "build.log.gz")
    assert ran.status == 2
    assert "build.log.gz" in said(ran)


def test_links_that_lead_back_are_not_counted_twice(run: Callable, results: Path) -> None:
    (results / "latest").symlink_to("build-19")
    (results / "loop").symlink_to(results)
    assert json.loads(run("ingest", "--format", "json", results).out)["jobs"] == 20
