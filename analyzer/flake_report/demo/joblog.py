"""Bytes of a job log as Buildkite keeps them: stamps, the line ends of agent and terminal, colours.

The agent stamps the start of each line, what follows an erased line, and where a line goes on after a second. A
template line may hold `{+2.5}` (so many seconds pass), `{erase}` (the line is erased and written again, which the
agent stamps), `{clock}` (vLLM's local time), `{date}`, and colour names.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_WAIT = re.compile(r"\{(\+[\d.]+)\}")
_COLOURS = {
    "off": "\x1b[0m",
    "grey": "\x1b[90m",
    "red": "\x1b[31m",
    "green": "\x1b[32m",
    "yellow": "\x1b[33m",
    "bold": "\x1b[1m",
    "cyan": "\x1b[36m",
}
_DIRECTIVE = re.compile(rf"\{{(\+[\d.]+|erase|clock|date|{'|'.join(_COLOURS)})\}}")
_VLLM_LINE = re.compile(r"(\(\w+ pid=\d+\) )?(INFO|WARNING|ERROR) (\{clock\}) (\[\w+\.py:\d+\])")
_LEVELS = {"INFO": "green", "WARNING": "yellow", "ERROR": "red"}
_VLLM_ZONE = timezone(timedelta(hours=-7))  # the containers run on California's summer time
_LINE_SECONDS = 0.004
_SILENT_SECONDS = 1.0


class JobLog:
    """A log while it is written, with the job's own clock."""

    def __init__(self, started_at: datetime) -> None:
        self._now = started_at
        self._text: list[str] = []

    @property
    def now(self) -> datetime:
        """The job's time after all that was written."""
        return self._now

    def agent(self, text: str) -> None:
        """Lines that the agent itself prints."""
        self._lines(text, "\r\n")

    def child(self, text: str) -> None:
        """Lines of the command, seen through a terminal that adds a carriage return of its own."""
        self._lines(text, "\r\r\n")

    def data(self, *, cut: int = 0) -> bytes:
        """The log, without its last `cut` bytes."""
        whole = "".join(self._text).encode()
        return whole[: len(whole) - cut]

    def _lines(self, text: str, ending: str) -> None:
        for line in text.removesuffix("\n").split("\n"):
            rest = line
            if waits := _WAIT.match(line):
                self._now += timedelta(seconds=float(waits[1]))
                rest = line[waits.end() :]
            self._now += timedelta(seconds=_LINE_SECONDS)
            shown = _DIRECTIVE.sub(self._directive, _VLLM_LINE.sub(_coloured, rest))
            self._text.append(f"{self._stamp()}{shown}{ending}")

    def _directive(self, found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("+"):
            self._now += timedelta(seconds=float(name))
            return self._stamp() if float(name) > _SILENT_SECONDS else ""
        if name == "erase":
            return f"\x1b[K{self._stamp()}\r"
        if name == "clock":
            return self._now.astimezone(_VLLM_ZONE).strftime("%m-%d %H:%M:%S")
        if name == "date":
            return self._now.astimezone(UTC).strftime("%a %b %d %H:%M:%S %Y")
        return _COLOURS[name]

    def _stamp(self) -> str:
        return f"\x1b_bk;t={int(self._now.timestamp() * 1000)}\x07"


def _coloured(found: re.Match[str]) -> str:
    process = f"\x1b[0;36m{found[1].rstrip()}\x1b[0;0m " if found[1] else ""
    level = _LEVELS[found[2]]
    return f"{process}{{{level}}}{found[2]}{{off}} {{grey}}{found[3]}{{off}} {{grey}}{found[4]}{{off}}"
