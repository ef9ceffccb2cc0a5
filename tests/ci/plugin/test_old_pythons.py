"""On an agent or in a container with an old Python or pytest nothing breaks: one line says what is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from ci.plugin.conftest import PLUGIN, clean_environment

GUARD = PLUGIN / "gpu_guard"
READ_FIRST = ["__init__.py", "autoload.py", "hooks/__init__.py", "hooks/__main__.py"]


@pytest.mark.parametrize("name", READ_FIRST)
def test_what_an_old_python_reads_first_is_in_its_own_grammar(name: str) -> None:
    text = (GUARD / name).read_text()
    ast.parse(text, feature_version=(3, 6))
    assert "from __future__" not in text  # 3.6 knows no such thing as annotations


def pretending(version: str, then: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a Python that says it is another."""
    start = f"import pytest, sys; sys.version_info = {version}; sys.version = 'pretended (gcc)'; "
    return subprocess.run(
        [sys.executable, "-c", start + then], env={**clean_environment(), "PYTHONPATH": str(PLUGIN)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_an_agent_with_an_old_python_runs_the_job_unguarded_and_says_so(tmp_path: Path) -> None:
    target = tmp_path / "exports"
    script = str(GUARD / "hooks" / "__main__.py")
    run = (
        f"import runpy; sys.argv = ['x', 'pre-command', {str(target)!r}]; runpy.run_path({script!r}, None, '__main__')"
    )
    done = pretending("(3, 8, 20, 'final', 0)", run)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "gpu-guard: it needs Python 3.9, and python3 is 3.8: the job runs unguarded\n"
    assert not target.exists()


def test_a_container_with_an_old_python_runs_its_tests_unrecorded_and_says_so() -> None:
    done = pretending(
        "(3, 8, 20, 'final', 0)", "import gpu_guard.autoload as it; assert not hasattr(it, 'pytest_configure')"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("gpu-guard: the tests run unrecorded: it needs Python 3.9 and pytest 7")


def test_a_container_with_an_old_pytest_runs_its_tests_unrecorded_and_says_so() -> None:
    old = "import pytest; pytest.__version__ = '6.2.5'; "
    done = pretending(
        "(3, 11, 0, 'final', 0)", old + "import gpu_guard.autoload as it; assert not hasattr(it, 'pytest_configure')"
    )
    assert done.returncode == 0, done.stderr
    assert "here are pretended and 6.2.5" in done.stderr
