"""The attempts file: one object a line, on disk before the next test starts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class AttemptsFile:
    """A new file, open for adding. Every call raises OSError where the disk does not take it."""

    def __init__(self, path: Path) -> None:
        """Make the file; one that exists is another session's and is left alone."""
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def write(self, line: dict[str, Any]) -> None:
        """Add one line. It is with the system when this returns: killing the process loses nothing."""
        data = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")
        while data:  # a disk that fills up takes a part before it refuses
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def new_attempts_file(folder: Path, name: str) -> AttemptsFile:
    """The file `attempts-<name>.jsonl`, its folder made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    return AttemptsFile(folder / f"attempts-{name}.jsonl")
