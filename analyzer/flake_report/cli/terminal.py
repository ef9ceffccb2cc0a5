"""How the commands print: text for people on standard output, warnings on standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

import click
from rich.console import Console, RenderableType
from rich.text import Text

from .harmless import harmless, harmless_json

PLAIN_WIDTH = 120
"""Columns where standard output is no terminal: a pipe, a file, a CI log."""


def show(*parts: RenderableType) -> None:
    """Print for people; colour only where a terminal can show it, and no blanks at line ends where none can."""
    print_text(rendered(console(), parts))


def print_text(text: str) -> None:
    """Print lines that are finished, and yet may hold what strangers wrote."""
    click.echo(harmless(text), nl=False)


def print_json(value: object) -> None:
    """Print for programs; the text is also harmless to a person's terminal."""
    print_json_text(json_text(value))


def print_json_text(text: str) -> None:
    """Print what `json_text` made."""
    click.echo(harmless_json(text), nl=False)


def json_text(value: object) -> str:
    """The lines of a JSON value."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def rendered(terminal: Console, parts: Iterable[RenderableType]) -> str:
    """The lines that a console would print."""
    with terminal.capture() as captured:
        _print(terminal, parts)
    lines = captured.get().split("\n")[:-1]
    return "".join(f"{line if terminal.is_terminal else line.rstrip()}\n" for line in lines)


def sheet() -> Console:
    """Standard output as it is now: what is done to its window later changes nothing."""
    terminal = console()
    terminal.width = terminal.width  # asked anew each time, unless it is set
    return terminal


def look(terminal: Console) -> str:
    """All of a console that decides how it renders: under one look a text is the same, byte by byte."""
    return repr(
        (
            terminal.is_terminal,
            terminal.width,
            terminal.color_system,
            terminal.no_color,
            terminal.encoding,
            terminal.legacy_windows,
            os.environ.get("UNICODE_VERSION"),  # by which rich tells how wide a character is
        )
    )


def _print(terminal: Console, parts: Iterable[RenderableType]) -> None:
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
