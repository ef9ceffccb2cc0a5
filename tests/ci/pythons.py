"""Other Pythons of this machine, under which what enters others' environments must run too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def python39() -> Path:
    """A real Python 3.9: on PATH, or among those that pyenv keeps off it."""
    kept = sorted((Path.home() / ".pyenv" / "versions").glob("3.9.*/bin/python3.9"))
    for found in (shutil.which("python3.9"), *kept):
        if found is not None and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return Path(found)
    pytest.skip("no Python 3.9 on this machine")
