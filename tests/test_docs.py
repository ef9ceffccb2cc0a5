"""The documentation cannot lie: transcripts are run, commands and settings are compared with the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import zstandard

from flake_report import demo
from flake_report.cli import COMMANDS, group, main
from flake_report.config import SETTINGS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def transcripts() -> list[tuple[str, str]]:
    """Each `$ command` in the README's console blocks, with the output that the README says it has."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL):
        parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
        found += list(zip(parts[1::2], parts[2::2], strict=True))
    return found


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with what the README's transcripts read: the demo's archive, its failed log, its store."""
    folder = tmp_path_factory.mktemp("readme")
    demo.write_history(folder / "archive")
    raw = (folder / "archive" / demo.FAILED_JOB_LOGS[-1]).read_bytes()
    (folder / "build.log").write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(raw))
    assert main(["ingest", str(folder / "archive"), "--store", str(folder / "flake-report-store")]) == 0
    return folder


@pytest.mark.parametrize(("command", "expected"), transcripts(), ids=[command for command, _ in transcripts()])
def test_a_transcript_in_the_readme_is_what_the_command_prints(
    command: str,
    expected: str,
    shown: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(shown)
    program, *arguments = shlex.split(command)
    assert program == "flake-report"
    assert main(arguments) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == expected.rstrip().splitlines()


def test_the_first_screen_shows_explain_and_show() -> None:
    first = README[: README.index("\n## ")]
    assert "$ flake-report explain" in first
    assert "$ flake-report show" in first


def test_every_command_stands_in_the_readme_with_its_short_help() -> None:
    for name, says in COMMANDS.items():
        assert f"| `{name}` | {says} |" in README


def test_the_short_help_of_a_command_is_the_one_that_the_group_lists() -> None:
    context = click.Context(group)
    for name, says in COMMANDS.items():
        command = group.get_command(context, name)
        assert command is not None
        assert command.short_help == says


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_option_has_help(name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def test_the_table_of_settings_is_that_of_the_code() -> None:
    for setting in SETTINGS:
        assert f"| `{setting.name}` | {setting.takes} | {setting.default} | {setting.meaning} |" in README


def test_the_stable_keys_are_all_documented(
    shown: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shown)
    Path("a.xml").write_text('<testsuite tests="1"><testcase classname="a" name="b"/></testsuite>')
    keys = set()
    for arguments in (["explain", "build.log"], ["parse", "a.xml"], ["signatures"], ["show"], ["ingest", "archive"]):
        assert main([*arguments, "--format", "json"]) == 0
        keys |= set(re.findall(r'^ *"(\w+)":', capsys.readouterr().out, flags=re.MULTILINE))
    section = README[README.index("## JSON") : README.index("## Adding")]
    assert {key for key in keys if f"`{key}`" not in section} == set()


def test_the_two_setup_lines_stand_in_the_readme_once() -> None:
    report = "python3 -m venv .venv && .venv/bin/pip install '.[report]' && .venv/bin/flake-report demo"
    tests = "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest"
    assert README.count(report + "\n") == 1
    assert README.count(tests + "\n") == 1


def test_every_path_that_the_readme_names_exists() -> None:
    for path in re.findall(r"`((?:analyzer|ci|tests)/[\w./-]+)`", README):
        assert (ROOT / path).exists(), path


def test_the_plugins_readme_names_every_switch_of_the_recorder() -> None:
    folder = ROOT / "ci" / "gpu-guard-buildkite-plugin"
    source = (folder / "gpu_guard" / "recorder" / "options.py").read_text(encoding="utf-8")
    told = (folder / "README.md").read_text(encoding="utf-8")
    options = set(re.findall(r'"(--gpu-guard-[a-z]+)"', source))
    variables = set(re.findall(r'"(GPU_GUARD_[A-Z]+)"', source))
    assert len(options) == len(variables) == 4
    assert {name for name in options | variables if name not in told} == set()


def test_the_plugins_readme_names_every_contract_file() -> None:
    folder = ROOT / "ci" / "gpu-guard-buildkite-plugin"
    told = (folder / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in folder.glob("gpu_guard/*.json") if path.name not in told] == []
