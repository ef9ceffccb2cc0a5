"""How texts for people are rendered, and what decides it."""

from __future__ import annotations

import pytest
from rich.text import Text

from flake_report.cli.terminal import PLAIN_WIDTH, json_text, look, rendered, sheet

LONG = Text("word " * 60)


@pytest.fixture(autouse=True)
def no_terminal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLORTERM", "TERM"):
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


def test_a_window_that_changes_later_does_not_change_a_sheet(terminal) -> None:
    paper = sheet()
    before = look(paper), rendered(paper, [LONG])
    terminal.setenv("COLUMNS", "90")
    assert (look(paper), rendered(paper, [LONG])) == before
    assert look(sheet()) != before[0]
    assert max(map(len, before[1].splitlines())) <= 50


@pytest.mark.parametrize(
    ("name", "value"),
    [("COLUMNS", "51"), ("TERM", "xterm-16color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1"), ("TERM", "dumb")],
)
def test_what_changes_the_rendering_changes_the_look(name, value, terminal) -> None:
    before = look(sheet())
    assert look(sheet()) == before
    terminal.setenv(name, value)
    assert look(sheet()) != before


def test_a_json_text_ends_with_its_line() -> None:
    assert json_text({"a": ["ü"]}) == '{\n "a": [\n  "ü"\n ]\n}\n'
