"""The bash of the hooks, by bats: what it hands over, how it ends, what it does without Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ci.plugin.conftest import PLUGIN, clean_environment

HERE = Path(__file__).parent


def test_every_bats_test_passes() -> None:
    if shutil.which("bats") is None or not Path("/usr/lib/bats/bats-assert").is_dir():
        pytest.skip("bats is not installed: Debian has it as bats, bats-assert, bats-support")
    done = subprocess.run(
        ["bats", "--tap", HERE / "hooks.bats"], env=clean_environment(), capture_output=True, text=True, check=False
    )
    results = re.findall(r"^(ok|not ok) ", done.stdout, re.MULTILINE)
    assert done.returncode == 0, done.stdout
    assert results == ["ok"] * (HERE / "hooks.bats").read_text().count("\n@test ")


def test_shellcheck_finds_nothing() -> None:
    program = Path(sys.executable).parent / "shellcheck"
    scripts = [*(PLUGIN / "hooks").iterdir(), HERE / "agent" / "build.sh", HERE / "docker" / "hooks" / "command"]
    done = subprocess.run([program, *scripts], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0
