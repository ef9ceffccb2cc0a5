"""Which command started a pytest session: the agent, a shell's trace or a build tool prints it before."""

from __future__ import annotations

import re

_DECORATED = re.compile(
    r"(?:[-+~]{3} .*?Command \(\d+/\d+\): |\++ |\$ |##\[(?:group|command)\](?:Run )?|\[command\]"
    r"|[-+~]{3} (?::[\w+-]+: )?)"
)
_SPLIT = re.compile(r"\s*(?:&&|\|\||;|\n|\\n)\s*")
_WORD = r"(?:[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*)\s+)"
_RUNNER = re.compile(
    rf"(?:^|.*?[\s'\"(])(?P<command>{_WORD}*(?:\S*python[\d.]*\s+(?:-\S+\s+)*?-m\s+|\S*/)?py\.?test(?:\s.*)?)$"
)
_PLAIN = re.compile(
    rf"{_WORD}*(?:(?:time|timeout|env|xvfb-run|torchrun|(?:uv|poetry|pipenv|pdm|coverage)\s+run)\s+(?:-\S+\s+|\d+\w?\s+)*)*"
    r"(?:\S*python[\d.]*\s+(?:-\S+\s+)*?-m\s+|\S*/)?py\.?test\s+\S"
)


def pytest_commands(text: str) -> list[str]:
    """The pytest commands that a line shows to be run, in order; empty where it only speaks of pytest.

    A line counts when it is decorated as a command (`$ …`, `+ …`, `+++ :test_tube: Command (1/3): …`), or is
    nothing but a command.
    """
    decorated = _DECORATED.match(text)
    if decorated is None and _PLAIN.match(text) is None:
        return []
    commands = []
    for piece in _SPLIT.split(text[decorated.end() :] if decorated else text):
        found = _RUNNER.match(piece.strip())
        if found:
            commands.append(_unquoted(found["command"]))
    return commands


def _unquoted(command: str) -> str:
    """A command cut out of a quoted script ends with that script's quote."""
    for quote in "'\"":
        if command.count(quote) % 2 and command.endswith(quote):
            command = command[:-1]
    return command.strip()


class CommandQueue:
    """Commands seen and not yet started: a script is printed once and its sessions follow in order."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._last: list[str] = []

    def see(self, text: str) -> None:
        """A script's echo, then a trace of each of its commands: the trace replaces what it repeats."""
        commands = pytest_commands(text)
        if not commands:
            return
        if self._waiting and len(commands) == 1 and commands[0] in self._waiting:
            del self._waiting[: self._waiting.index(commands[0])]
        elif len(commands) > 1 or commands != self._last:
            self._waiting = commands
        self._last = commands

    def next(self) -> str:
        """The command of the session that starts now; empty when the log did not show it."""
        self._last = []
        return self._waiting.pop(0) if self._waiting else ""
