"""How texts for people are rendered, and what decides it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from rich.text import Text

from flake_report.cli.terminal import PLAIN_WIDTH, json_text, look, rendered, sheet

LONG = Text("word " * 60)


@pytest.fixture(autouse=True)
def no_terminal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLORTERM", "TERM", "UNICODE_VERSION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "50")
    return monkeypatch


def test_where_no_terminal_is_lines_end_without_blanks() -> None:
    lines = rendered(sheet(), [LONG]).splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert PLAIN_WIDTH - 5 <= max(map(len, lines)) <= PLAIN_WIDTH


WINDOW = """
import fcntl, struct, termios
from flake_report.cli.terminal import look, sheet

def resize(columns):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))

resize(70)
paper = sheet()
before = look(paper)
resize(90)
assert (paper.is_terminal, paper.width, look(paper)) == (True, 70, before)
assert sheet().width == 90
"""


def test_a_window_that_changes_later_does_not_change_a_sheet() -> None:
    ours, theirs = os.openpty()
    environment = dict(os.environ)  # without the COLUMNS that readline leaves behind Python's back
    try:
        ran = subprocess.run(
            [sys.executable, "-c", WINDOW], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, check=False
        )
        assert ran.returncode == 0
    finally:
        os.close(theirs)
        os.close(ours)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COLUMNS", "51"),
        ("TERM", "xterm-16color"),
        ("COLORTERM", "truecolor"),
        ("NO_COLOR", "1"),
        ("TERM", "dumb"),
        ("UNICODE_VERSION", "9.0.0"),
    ],
)
def test_what_changes_the_rendering_changes_the_look(name, value, terminal) -> None:
    before = look(sheet())
    assert look(sheet()) == before
    terminal.setenv(name, value)
    assert look(sheet()) != before


def test_a_json_text_ends_with_its_line() -> None:
    assert json_text({"a": ["ü"]}) == '{\n "a": [\n  "ü"\n ]\n}\n'
