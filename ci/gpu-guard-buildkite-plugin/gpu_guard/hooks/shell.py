"""Variables on their way into a shell and into the agent's list of a job's variables."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

BYTES = "surrogateescape"
"""How texts of the environment are written: what is not UTF-8 comes out as the bytes that it was."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def exports(variables: Mapping[str, str]) -> str:
    """Lines that any POSIX shell sources; values mean nothing to it, whatever is in them."""
    return "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in variables.items() if _NAME.fullmatch(name)
    )


def add_to_env_file(path: Path, variables: Mapping[str, str], names: Iterable[str]) -> None:
    """Add names to BUILDKITE_ENV_FILE, from which plugins take which variables belong to the job.

    The agent writes `NAME="text"` lines there, once, before the first hook. Raise OSError where it cannot be written.
    """
    lines = [f"{name}={json.dumps(variables[name])}\n" for name in names if _NAME.fullmatch(name)]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines)
