"""How the commands print: text for people on standard output, warnings on standard error."""

from __future__ import annotations

import json

import click
from rich.console import Console, RenderableType
from rich.text import Text

from .harmless import harmless, harmless_json

PLAIN_WIDTH = 120
"""Columns where standard output is no terminal: a pipe, a file, a CI log."""


def show(*parts: RenderableType) -> None:
    """Print for people; colour only where a terminal can show it, and no blanks at line ends where none can."""
    terminal = console()
    with terminal.capture() as captured:
        _print(terminal, parts)
    for line in captured.get().split("\n")[:-1]:
        click.echo(harmless(line if terminal.is_terminal else line.rstrip()))


def print_json(value: object) -> None:
    """Print for programs; the text is also harmless to a person's terminal."""
    click.echo(harmless_json(json.dumps(value, indent=1, ensure_ascii=False)))


def _print(terminal: Console, parts: tuple[RenderableType, ...]) -> None:
    for part in parts:  # one by one: printed together, texts would lose how each wants to be wrapped
        text = Text(part) if isinstance(part, str) else part
        whole = isinstance(text, Text) and text.no_wrap  # rich wraps such a text all the same unless it is told here
        terminal.print(text, crop=False, no_wrap=whole or None, overflow="ignore" if whole else None)


def console(*, stderr: bool = False) -> Console:
    """A console that prints what it is given: test names are no markup."""
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = PLAIN_WIDTH
    return made


def warn(message: object) -> None:
    """One sentence on standard error; the command goes on."""
    click.echo(harmless(f"flake-report: {message}"), err=True)
