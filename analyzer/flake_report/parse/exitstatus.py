"""How the job's command ended, as the agent says it in the log.

Texts of Buildkite's agent 3 (`internal/job/executor.go`, `internal/shell/logger.go`) and of GitHub's runner.
A green job's log says nothing.
"""

from __future__ import annotations

import re

from .marks import Mark

_COMMAND = re.compile(r"(?:🚨 )?Error: The command exited with status (-?\d+)$")
_SIGNAL = re.compile(r"(?:🚨 )?Error: The command was interrupted by a signal: (?:signal: )?(.+)$")
_USER = re.compile(r"user command error: (?:exit status (-?\d+)|.* exited with status (-?\d+)|signal: (.+))$")
_HOOK = re.compile(r"(?:🚨 )?Error: .* hook exited with status (-?\d+)$")
_GITHUB = re.compile(r"##\[error\]Process completed with exit code (-?\d+)\.$")
_CANCELLED = re.compile(r"# Received cancellation signal|##\[error\]The operation was canceled")


class ExitReader:
    """The agent's word on the command goes before what it says of hooks; of equals, the first holds."""

    def __init__(self) -> None:
        self._found: dict[int, int] = {}
        self.signal = ""

    @property
    def status(self) -> int | None:
        return self._found[min(self._found)] if self._found else None

    def see(self, mark: Mark) -> bool:
        """Takes in a mark; true when it says that the job's command is over."""
        for rank, pattern in enumerate((_COMMAND, _GITHUB, _USER, _HOOK)):
            found = pattern.match(mark.text)
            if found:
                status = next((group for group in found.groups()[:2] if group), None)
                if status is not None:
                    self._found.setdefault(rank, int(status))
                elif not self.signal:
                    self.signal = found[3].strip()
                return rank != 3
        signal = _SIGNAL.match(mark.text)
        if signal:
            self.signal = signal[1].strip()
            return True
        if _CANCELLED.match(mark.text) and not self.signal:
            self.signal = "cancellation"
        return False
