"""A driver library without a driver, for all that reads GPU memory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

STUB = Path(__file__).parent / "recorder" / "stubs" / "nvml.c"


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `libnvidia-ml.so.1` that answers from a text file (recorder/stubs/nvml.c)."""
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", folder / "libnvidia-ml.so.1", STUB], check=True)
    return folder
